package codemode

import "slices"

// CallOutcome says how a tool call of a cell ended.
type CallOutcome uint8

// The outcomes. A call that is cancelled while its tool runs is Unknown: the tool may have done its work.
const (
	NeverStarted CallOutcome = iota
	Unknown
	Finished
	CallFailed
	Refused
)

// maxReceipt is how many ids each list of a receipt has; calls beyond are counted.
const maxReceipt = 256

// A Receipt says what has become of the tool calls of a cell that has ended, by the ids that the records have, so that
// what is repeated can be chosen with care.
type Receipt struct {
	Finished     []string `json:"finished,omitempty"`
	Failed       []string `json:"failed,omitempty"`
	Refused      []string `json:"refused,omitempty"`
	NeverStarted []string `json:"neverStarted,omitempty"`
	Unknown      []string `json:"unknown,omitempty"`
	Omitted      int      `json:"omitted,omitempty"`
}

func (r *Receipt) add(id string, o CallOutcome) {
	l := [...]*[]string{&r.NeverStarted, &r.Unknown, &r.Finished, &r.Failed, &r.Refused}[o]
	if len(*l) >= maxReceipt {
		r.Omitted++
		return
	}
	*l = append(*l, id)
}

func (r *Receipt) clone() Receipt {
	return Receipt{
		Finished: slices.Clone(r.Finished), Failed: slices.Clone(r.Failed), Refused: slices.Clone(r.Refused),
		NeverStarted: slices.Clone(r.NeverStarted), Unknown: slices.Clone(r.Unknown), Omitted: r.Omitted,
	}
}

// isCall reports whether a request of a program is the call of a tool.
func (k *call) isCall() bool {
	return k.method == "call" || k.method == "callValue" || k.method == "namespace"
}

// identify gives a call the id that records know it by; from then on it counts as started.
func (b *bridge) identify(k *call, id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k.callID, k.outcome = id, Unknown
}

func (b *bridge) outcome(k *call, o CallOutcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k.outcome, k.recorded = o, true
	b.receipt.add(k.callID, o)
}

// receiptNow gives the receipt with the calls that have not ended in it; nil if there was no call. Those that wait for
// an approval have not started.
func (b *bridge) receiptNow() *Receipt {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.receipt.clone() // calls that are given up go on adding to it
	for _, k := range b.order {
		if k.answer != nil || k.recorded || !k.isCall() {
			continue
		}
		switch {
		case k.callID == "":
			r.add(k.id, NeverStarted)
		case k.approval != nil:
			r.add(k.callID, NeverStarted)
		default:
			r.add(k.callID, Unknown)
		}
	}
	if len(r.Finished)+len(r.Failed)+len(r.Refused)+len(r.NeverStarted)+len(r.Unknown) == 0 {
		return nil
	}
	return &r
}
