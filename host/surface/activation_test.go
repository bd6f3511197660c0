package surface_test

import (
	"testing"

	"github.com/chelahost/chela/host/surface"
)

func TestActivation(t *testing.T) {
	for _, tt := range []struct {
		name   string
		in     surface.Activation
		reason string // "" = on
	}{
		{"zero", surface.Activation{}, "code mode is off: tools.codeMode is not enabled for this agent."},
		{"enabled", surface.Activation{Enabled: true}, ""},
		{"some prompt mode", surface.Activation{Enabled: true, PromptMode: "minimal"}, ""},
		{"model", surface.Activation{Enabled: true, ModelLacksTools: true}, "code mode is off: the model does not support tools."},
		{"ring zero", surface.Activation{Enabled: true, RingZeroTool: "openclaw"}, "code mode is off: the ring-zero host tool openclaw is active."},
		{"disableTools", surface.Activation{Enabled: true, DisableTools: true}, "code mode is off: tools are disabled for this run."},
		{"modelRun", surface.Activation{Enabled: true, ModelRun: true}, "code mode is off: this is a raw model run."},
		{"promptMode none", surface.Activation{Enabled: true, PromptMode: "none"}, "code mode is off: this is a raw model run."},
		{"proposal", surface.Activation{Enabled: true, ProposalOnly: true}, "code mode is off: this run may only propose skills."},
		{"empty toolsAllow", surface.Activation{Enabled: true, EmptyToolsAllow: true}, "code mode is off: toolsAllow is an empty list."},
		{"several", surface.Activation{DisableTools: true, EmptyToolsAllow: true},
			"code mode is off: tools.codeMode is not enabled for this agent; tools are disabled for this run; toolsAllow is an empty list."},
	} {
		want := surface.Decision{On: tt.reason == "", Reason: tt.reason}
		if want.On {
			want.Reason = "code mode is on."
		}
		if got := tt.in.Decide(); got != want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, want)
		}
	}
}
