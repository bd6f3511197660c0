package codemode

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/chelahost/chela/host/codemode/internal/source"
	"github.com/chelahost/chela/internal/spelling"
)

// A Failure is why a cell failed: what a failed Result says.
type Failure struct {
	Code    Code
	Message string
}

func (f *Failure) Error() string { return f.Message }

func invalid(format string, args ...any) *Failure {
	return &Failure{CodeInvalidInput, fmt.Sprintf(format, args...)}
}

func disabled(l Language) *Failure { return invalid("code mode %s input is disabled.", l) }

var (
	failTimeout      = &Failure{CodeTimeout, "code mode timeout exceeded"}
	failCPU          = &Failure{CodeTimeout, "code mode timeout exceeded: the program used more CPU time than its limit allows"}
	failAborted      = &Failure{CodeAborted, "code mode execution aborted"}
	failOutput       = &Failure{CodeOutputLimit, "code mode output limit exceeded"}
	failSnapshot     = &Failure{CodeSnapshotLimit, "code mode snapshot limit exceeded"}
	failNoCatalog    = &Failure{CodeInvalidInput, "Tool Search catalog is unavailable for this run."}
	failEarly        = &Failure{CodeInternalError, "the code mode engine interrupted the program before its time was over"}
	failTooMany      = &Failure{CodeInvalidInput, "too many suspended code mode runs."}
	failUnavailable  = &Failure{CodeInvalidInput, "code mode run is unavailable or expired."}
	failResuming     = &Failure{CodeInvalidInput, "code mode run is already being resumed."}
	failForeignRun   = &Failure{CodeInvalidInput, "code mode run belongs to a different agent run."}
	failForeign      = &Failure{CodeInvalidInput, "code mode run belongs to a different session."}
	failSpaces       = &Failure{CodeInvalidInput, "restart-safe code mode cannot call plugin namespaces."}
	failSideEffects  = &Failure{CodeInvalidInput, "restart-safe code mode cannot call side-effecting tools."}
	failNoHostWork   = &Failure{CodeInternalError, "code mode promise is pending without host work: the program awaits a promise that nothing will ever settle."}
	failModuleAccess = "code mode module access is disabled."
)

// failure turns an error of this package's making into what a result says.
func failure(err error) *Failure {
	var f *Failure
	var s *source.Error
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &s):
		return &Failure{CodeInvalidInput, s.Message}
	default:
		return &Failure{CodeRuntimeUnavailable, "the code mode engine failed: " + err.Error()}
	}
}

// problem is what the controller's describe says of a thrown value.
type problem struct {
	Text    *string    `json:"text"`
	Name    string     `json:"name"`
	Message string     `json:"message"`
	Stack   string     `json:"stack"`
	Cause   *problem   `json:"cause"`
	Errors  []*problem `json:"errors"`
	More    int        `json:"more"`
}

// thrown turns what a program threw into a failure (contract R13, R23).
func (c *cell) thrown(described []byte) *Failure {
	var p problem
	if err := json.Unmarshal(described, &p); err != nil {
		return &Failure{CodeInternalError, "the program threw something that cannot be described"}
	}
	if p.Name == "ReferenceError" {
		if strings.HasPrefix(p.Message, "could not load module ") {
			return invalid("%s", failModuleAccess+" Tools and namespaces are the only way to reach the host.")
		}
		for _, name := range []string{"require", "module", "process"} {
			if p.Message == name+" is not defined" || p.Message == "'"+name+"' is not defined" {
				return invalid("%s", failModuleAccess+" Tools and namespaces are the only way to reach the host; "+name+" does not exist.")
			}
		}
	}
	var b strings.Builder
	c.render(&b, &p, 0)
	if p.Name == "TypeError" && strings.Contains(p.Message, "not a function") {
		b.WriteString(c.absentTools())
	}
	return &Failure{CodeInternalError, bound(b.String(), maxErrorBytes)}
}

var toolMember = regexp.MustCompile(`\btools\.([A-Za-z_$][\w$]*)`)

// absentTools names a member of tools in the program's text that does not exist: the engine's "not a function" does not say
// what was called.
func (c *cell) absentTools() string {
	known := []string{"search", "describe", "call", "callValue"}
	for _, n := range c.scope.Catalog.SafeNames() {
		known = append(known, n.Name)
	}
	for _, m := range toolMember.FindAllStringSubmatch(c.prog.Text(), -1) {
		name := m[1]
		if slices.Contains(known, name) {
			continue
		}
		if near := spelling.Nearest(name, known, 2); near != "" {
			return "\ntools." + name + " does not exist; did you mean tools." + near + "?"
		}
		if _, err := c.scope.Catalog.Lookup(name); err != nil {
			return "\ntools." + name + " does not exist. " + err.Error()
		}
		// A tool without a function of its own.
		return "\ntools." + name + " does not exist; use tools.callValue with an exact id."
	}
	return ""
}

// render writes a problem as "name: message", the frames in the model's own text, the cause and the members.
func (c *cell) render(b *strings.Builder, p *problem, level int) {
	if p.Text != nil {
		b.WriteString(*p.Text)
		return
	}
	switch {
	case p.Message == "" && p.Name == "":
		b.WriteString("Error")
	case p.Message == "":
		b.WriteString(p.Name)
	case p.Name == "":
		b.WriteString(p.Message)
	default:
		b.WriteString(p.Name + ": " + p.Message)
	}
	if p.Name == "InternalError" && p.Message == "out of memory" {
		b.WriteString(c.memoryLimit())
	}
	if frames := strings.TrimRight(c.prog.MapStack(p.Stack), "\n"); frames != "" {
		b.WriteString("\n" + frames)
	}
	if p.Cause != nil {
		b.WriteString("\nCaused by: ")
		c.render(b, p.Cause, level+1)
	}
	for i, e := range p.Errors {
		fmt.Fprintf(b, "\n[%d] ", i)
		c.render(b, e, level+1)
	}
	if p.More > 0 {
		fmt.Fprintf(b, "\n... and %d more", p.More)
	}
}

func (c *cell) memoryLimit() string {
	return fmt.Sprintf(" (the memory limit is %d MiB)", c.cfg.MemoryLimitBytes>>20)
}

// bound cuts s to at most n bytes, between characters.
func bound(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const mark = " [error truncated]"
	return strings.ToValidUTF8(s[:n-len(mark)], "") + mark
}
