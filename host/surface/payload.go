package surface

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// PayloadError says that a request must not be sent: its tools are not what the run may show its model (2.4).
type PayloadError struct {
	Message string
	Err     error // what is wrong with a malformed body; nil otherwise
}

// Error gives the message.
func (e *PayloadError) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *PayloadError) Unwrap() error { return e.Err }

const violation = "Code mode payload tool surface violation: expected exec,wait"

func noTools(cause error) error {
	return &PayloadError{Message: violation + "; got no tools", Err: cause}
}

// maxGotBytes bounds the names in a message.
const maxGotBytes = 2048

// Guard keeps the requests of one run to the tools that its model may see. It is the last look at a body before it is
// sent: whatever is not understood is taken out, and a body that is then not right is refused. A Guard is immutable and
// safe for concurrent use.
type Guard struct {
	active  bool
	allowed []string
}

// Guard returns the guard of the run's requests. Without code mode it lets everything pass.
func (s *Surface) Guard() *Guard {
	return &Guard{active: s.active, allowed: append([]string{ExecName, WaitName}, s.VisibleTools()...)}
}

// Payload is the way of a request body through the guard: filtered, given to hook, filtered again, checked. hook is the
// user's, and may be nil. What it returns is the body to send; on an error, nothing may be sent.
func (g *Guard) Payload(shape Shape, body []byte, hook func([]byte) ([]byte, error)) ([]byte, error) {
	body, err := g.Filter(shape, body)
	if err != nil {
		return nil, err
	}
	if hook != nil {
		if body, err = hook(body); err != nil {
			return nil, err
		}
		if body, err = g.Filter(shape, body); err != nil {
			return nil, err
		}
	}
	if err := g.Check(shape, body); err != nil {
		return nil, err
	}
	return body, nil
}

// Filter takes everything out of a body that lets a model use a tool which is not allowed. A body that has nothing of the
// kind comes back as it is; one without a list of tools too, which Check then refuses. It fails for what is not one JSON
// object with distinct keys, and for an unknown shape.
func (g *Guard) Filter(shape Shape, body []byte) ([]byte, error) {
	if !g.active {
		return body, nil
	}
	form, members, err := open(shape, body)
	if err != nil {
		return nil, err
	}
	kept := slices.DeleteFunc(slices.Clone(members), func(m member) bool { return slices.Contains(form.doors, m.key) })
	changed := len(kept) < len(members)
	for i, m := range kept {
		tools := array(m.value)
		if m.key != "tools" || tools == nil {
			continue
		}
		var list []json.RawMessage
		same := true
		for _, raw := range tools {
			left, whole := form.filter(raw, g.permits)
			same = same && whole
			if left != nil {
				list = append(list, left)
			}
		}
		if !same {
			kept[i].value, changed = joinArray(list), true
		}
	}
	if !changed {
		return body, nil
	}
	return join(kept), nil
}

// Check refuses a body, with a *PayloadError, unless its tools are exec and wait, each exactly once, and otherwise allowed
// ones, each at most once.
func (g *Guard) Check(shape Shape, body []byte) error {
	if !g.active {
		return nil
	}
	form, members, err := open(shape, body)
	if err != nil {
		return err
	}
	tools := array(find(members, "tools"))
	if tools == nil {
		return noTools(nil)
	}
	var got []string
	ok := true
	for _, raw := range tools {
		for _, t := range form.tools(raw) {
			got = append(got, t.name)
			ok = ok && g.permits(t)
		}
	}
	for _, m := range members {
		if slices.Contains(form.doors, m.key) {
			got, ok = append(got, m.key), false
		}
	}
	slices.Sort(got)
	distinct := len(slices.Compact(slices.Clone(got))) == len(got)
	if ok && distinct && slices.Contains(got, ExecName) && slices.Contains(got, WaitName) {
		return nil
	}
	names := strings.Join(got, ",")
	if names == "" {
		names = "none"
	}
	if len(names) > maxGotBytes {
		names = strings.ToValidUTF8(names[:maxGotBytes], "") + "..."
	}
	return &PayloadError{Message: violation + " plus direct-only tools; got " + names}
}

func open(shape Shape, body []byte) (*form, []member, error) {
	f, ok := forms()[shape]
	if !ok {
		return nil, nil, unknownShape(shape)
	}
	members, err := object(body)
	if err != nil {
		return nil, nil, noTools(fmt.Errorf("the request body %w", err))
	}
	return &f, members, nil
}

// permits says whether the model may see a tool. Those of code mode have to be plain functions; a direct-only tool may be
// one that the provider knows, such as computer.
func (g *Guard) permits(t declared) bool {
	if !t.clear || !slices.Contains(g.allowed, t.name) {
		return false
	}
	return t.function || t.name != ExecName && t.name != WaitName
}
