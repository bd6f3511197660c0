package codemode

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/namespace"
	"github.com/chelahost/chela/host/policy"
)

// A Scope is what the cells of one agent run share: who they belong to and what they see. Make it with NewScope; it is
// immutable and safe for concurrent use.
type Scope struct {
	ScopeOptions
	cfg     Config
	layers  []Layer   // of the heaps of its cells
	visible Telemetry // of a cell that did nothing
	missing bool      // there is no catalog
}

// ScopeOptions say what a Scope is made of.
type ScopeOptions struct {
	// The four ids must all be the same, and not empty, for a wait to resume what an exec suspended (contract R7).
	RunID, SessionID, SessionKey, AgentID string

	// Catalog is what the cells see. Without one, every exec fails.
	Catalog    *catalog.Catalog
	Namespaces []*namespace.Bound
	Gate       *policy.Gate
	Config     *Config
	// ForceRestartSafe makes every exec restart-safe, whatever the model asks for.
	ForceRestartSafe bool
	// VisibleTools are the direct-only tools that the model sees beside exec and wait.
	VisibleTools []string
}

// NewScope makes a scope. With a catalog that was used before, it is cheap.
func NewScope(o ScopeOptions) *Scope {
	missing := o.Catalog == nil
	if missing {
		o.Catalog, _ = catalog.New(nil) // nothing in it can be wrong
	}
	s := &Scope{ScopeOptions: o, cfg: o.Config.Resolve(), missing: missing}
	s.layers = []Layer{{
		Call: "boot",
		Key:  fmt.Sprintf("%s %d", o.Catalog.Digest(), s.cfg.MaxOutputBytes),
		Data: sync.OnceValue(s.bootData),
	}}
	if !namespace.Dynamic(o.Namespaces) {
		s.layers = append(s.layers, spacesLayer(o.Namespaces, spacesKey(o.Namespaces)))
	}
	n := o.Catalog.Sources()
	s.visible = Telemetry{
		CatalogSize: o.Catalog.Len(),
		Sources: Sources{
			OpenClaw: n[catalog.SourceOpenClaw], MCP: n[catalog.SourceMCP], Client: n[catalog.SourceClient],
		},
		VisibleTools: append([]string{"exec", "wait"}, o.VisibleTools...),
	}
	return s
}

// same reports whether a wait from scope o may resume a run of s; a missing value on either side is a mismatch.
func (s *Scope) same(o *Scope) *Failure {
	if s.RunID == "" || s.RunID != o.RunID {
		return failForeignRun
	}
	if s.SessionID == "" || s.SessionKey == "" || s.AgentID == "" ||
		s.SessionID != o.SessionID || s.SessionKey != o.SessionKey || s.AgentID != o.AgentID {
		return failForeign
	}
	return nil
}

// bootData is what the controller's boot reads.
func (s *Scope) bootData() []byte {
	type limits struct {
		Output  int `json:"output"`
		Input   int `json:"input"`
		Held    int `json:"held"`
		Pending int `json:"pending"`
	}
	data := struct {
		Limits  limits            `json:"limits"`
		Entries []json.RawMessage `json:"entries"`
		Names   [][2]string       `json:"names"`
		Files   []namespace.File  `json:"files"`
	}{
		Limits:  limits{s.cfg.MaxOutputBytes, maxInputBytes, maxHeldBytes, maxQueued},
		Entries: []json.RawMessage{}, Names: [][2]string{}, Files: []namespace.File{},
	}
	for _, e := range s.Catalog.Entries() {
		if e.Source != catalog.SourceMCP {
			data.Entries = append(data.Entries, e.Compact())
		}
	}
	for _, n := range s.Catalog.SafeNames() {
		data.Names = append(data.Names, [2]string{n.Name, n.ID})
	}
	for _, n := range s.Namespaces {
		data.Files = append(data.Files, n.Files()...)
	}
	return encode(data)
}

// encode gives the JSON of what this program made itself.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("codemode: data for the controller: %v", err))
	}
	return b.Bytes()
}

// spacesLayer puts namespaces into a heap.
func spacesLayer(spaces []*namespace.Bound, key string) Layer {
	return Layer{Call: "bind", Key: key, Data: func() []byte {
		list := [][3]any{}
		for _, n := range spaces {
			list = append(list, [3]any{n.ID(), n.GlobalName(), n.Descriptor()})
		}
		return encode(list)
	}}
}

// spacesKey identifies what spacesLayer puts into a heap.
func spacesKey(spaces []*namespace.Bound) string {
	h := sha256.New()
	for _, n := range spaces {
		fmt.Fprintf(h, "%q %q %d ", n.ID(), n.GlobalName(), len(n.Descriptor()))
		h.Write(n.Descriptor())
	}
	return hex.EncodeToString(h.Sum(nil))
}

// telemetry counts what a cell of this scope saw and did.
func (s *Scope) telemetry(c counters) Telemetry {
	t := s.visible
	t.SearchCount, t.DescribeCount, t.CallCount = c.search, c.describe, c.call
	return t
}
