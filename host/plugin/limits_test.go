package plugin

import (
	"testing"
	"time"

	"github.com/chelahost/chela/manifests"
)

func TestTimeouts(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		operator Limits
		plugin   int // ms
		tool     time.Duration
		want     time.Duration
	}{
		"default":                          {want: 30 * s},
		"a tool asks for less":             {tool: s, want: s},
		"a tool asks for more":             {tool: 90 * s, want: 90 * s},
		"a tool asks for too much":         {tool: 900 * s, want: 120 * s},
		"the operator gave one limit":      {operator: Limits{Timeout: 5 * s}, tool: 90 * s, want: 5 * s},
		"the operator gave both":           {operator: Limits{Timeout: 5 * s, MaxTimeout: 60 * s}, tool: 90 * s, want: 60 * s},
		"the operator's for other tools":   {operator: Limits{Timeout: 5 * s, MaxTimeout: 60 * s}, want: 5 * s},
		"the plugin lowers its own":        {plugin: 1000, want: s},
		"the plugin's limit binds a tool":  {plugin: 1000, tool: 90 * s, want: s},
		"a plugin cannot raise what it is": {plugin: 900_000, want: 30 * s},
	} {
		l := c.operator.over(DefaultLimits())
		if c.plugin > 0 {
			l = l.lowered(&manifests.Limits{TimeoutMs: c.plugin})
		}
		if got := l.timeout(c.tool); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
