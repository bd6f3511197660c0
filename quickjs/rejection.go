package quickjs

import (
	"maps"
	"slices"
)

// maxRejections is how many unhandled rejections are told apart; more than that are only counted.
const maxRejections = 1 << 16

// rejections are the promises rejected so far that nobody handles. The guest keeps each alive for as long as it is in
// the map, or its address could become another promise's.
type rejections struct {
	open   map[Value]rejected // by promise
	untold int                // how many more there are
	thrown []rejected         // what a job threw; only the first one is kept
	last   int
	done   []Value // references to give back once the engine is at rest
}

type rejected struct {
	reason Value
	order  int
}

// clone gives a copy for a guest of its own. Nothing may be left to give back.
func (l *rejections) clone() rejections {
	c := *l
	c.open, c.thrown, c.done = maps.Clone(l.open), slices.Clone(l.thrown), nil
	return c
}

// rejection is told by the engine of a promise that was rejected without a handler, and of one that got its handler
// after all. It tells of each promise at most once each.
func (g *Guest) rejection(promise, reason Value, handled bool) {
	l := &g.rejections
	r, told := l.open[promise]
	switch {
	case handled && told:
		// Freeing now could run finalisers inside the engine's own bookkeeping.
		delete(l.open, promise)
		if len(l.done) < maxRejections { // what is beyond ends with the guest
			l.done = append(l.done, promise, r.reason)
		}
	case handled:
		l.untold--
	case len(l.open) >= maxRejections:
		l.untold++
	default:
		if l.open == nil {
			l.open = map[Value]rejected{}
		}
		l.last++
		l.open[g.dup(promise)] = rejected{g.dup(reason), l.last}
	}
}

// threw records what a job threw, which nobody can catch any more.
func (g *Guest) threw(v Value) {
	l := &g.rejections
	l.last++
	if len(l.thrown) == 0 {
		l.thrown = append(l.thrown, rejected{v, l.last})
		return
	}
	l.done = append(l.done, v)
}

// giveBack frees what rejections kept that have been handled. The engine must be at rest.
func (g *Guest) giveBack() error {
	for l := &g.rejections; len(l.done) > 0; {
		v := l.done[len(l.done)-1]
		l.done = l.done[:len(l.done)-1]
		if err := g.Free(v); err != nil {
			return err
		}
	}
	return nil
}

func (g *Guest) dup(v Value) Value {
	if !v.isCounted() {
		return v
	}
	// A stack of its own: the engine is in the middle of a call that uses the instance's.
	s := [2]uint64{uint64(g.layout.context), uint64(v)}
	if err := g.inst.fn.dupValue.CallWithStack(g.inst.ctx, s[:]); err != nil {
		panic(err) // ends the call under way as a trap
	}
	return v
}

// Unhandled gives the reason of the first promise, other than except, that was rejected and that nobody handles, or what
// a job threw. It can be asked at any time, but only when no job is left is the answer final.
func (g *Guest) Unhandled(except Value) (reason Value, any bool) {
	first := 0
	consider := func(r rejected) {
		if first == 0 || r.order < first {
			first, reason = r.order, r.reason
		}
	}
	for p, r := range g.rejections.open {
		if p != except {
			consider(r)
		}
	}
	for _, r := range g.rejections.thrown {
		consider(r)
	}
	if first != 0 {
		return reason, true
	}
	return Undefined, g.rejections.untold > 0
}
