package surface

import "strings"

// Activation is what decides whether a run gets code mode (2.1). The zero value is off: nothing turns it on but Enabled.
type Activation struct {
	// Enabled is tools.codeMode.enabled as it resolves for the run's agent.
	Enabled bool
	// ModelLacksTools: the model is known not to support tools. What is not known counts as support.
	ModelLacksTools bool
	// RingZeroTool names the ring-zero host tool that is active; "" is none.
	RingZeroTool string
	// DisableTools: the run was started without tools.
	DisableTools bool
	// ModelRun and PromptMode "none" are the two ways to ask for the raw model.
	ModelRun   bool
	PromptMode string
	// ProposalOnly: a run of the skill workshop that may only propose.
	ProposalOnly bool
	// EmptyToolsAllow: the run has a list of allowed tools, and it is empty. No list at all is not an empty one.
	EmptyToolsAllow bool
}

// Decision is the outcome, with the reason in words for a log or an operator.
type Decision struct {
	On     bool
	Reason string
}

// Decide says whether code mode is on, or else everything that keeps it off.
func (a Activation) Decide() Decision {
	var off []string
	for _, c := range []struct {
		holds  bool
		reason string
	}{
		{!a.Enabled, "tools.codeMode is not enabled for this agent"},
		{a.ModelLacksTools, "the model does not support tools"},
		{a.RingZeroTool != "", "the ring-zero host tool " + a.RingZeroTool + " is active"},
		{a.DisableTools, "tools are disabled for this run"},
		{a.ModelRun || a.PromptMode == "none", "this is a raw model run"},
		{a.ProposalOnly, "this run may only propose skills"},
		{a.EmptyToolsAllow, "toolsAllow is an empty list"},
	} {
		if c.holds {
			off = append(off, c.reason)
		}
	}
	if off != nil {
		return Decision{Reason: "code mode is off: " + strings.Join(off, "; ") + "."}
	}
	return Decision{On: true, Reason: "code mode is on."}
}
