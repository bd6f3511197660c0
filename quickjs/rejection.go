package quickjs

// maxRejections is how many unhandled rejections are told apart; more than that are only known to exist.
const maxRejections = 1 << 16

// rejections are the promises rejected so far that nobody handles. The guest keeps each alive for as long as it is in
// the map, or its address could become another promise's.
type rejections struct {
	open     map[Value]rejected // by promise
	last     int
	overflow bool
}

type rejected struct {
	reason Value
	order  int
}

// rejection is told by the engine of a promise that was rejected without a handler, and of one that got its handler
// after all.
func (g *Guest) rejection(promise, reason Value, handled bool) {
	l := &g.rejections
	switch {
	case handled:
		// The references taken below are not given back: freeing could run finalisers inside the engine's own
		// bookkeeping. They end with the guest.
		delete(l.open, promise)
	case len(l.open) >= maxRejections:
		l.overflow = true
	default:
		if l.open == nil {
			l.open = map[Value]rejected{}
		}
		l.last++
		l.open[g.dup(promise)] = rejected{g.dup(reason), l.last}
	}
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

// Unhandled gives the reason of the first promise, other than except, that was rejected and that nobody handles. It can
// be asked at any time, but only when no job is left is the answer final.
func (g *Guest) Unhandled(except Value) (reason Value, any bool) {
	first := 0
	for p, r := range g.rejections.open {
		if p != except && (first == 0 || r.order < first) {
			first, reason = r.order, r.reason
		}
	}
	if first != 0 {
		return reason, true
	}
	return Undefined, g.rejections.overflow
}
