package codemode

import (
	"slices"

	"github.com/chelahost/chela/host/catalog"
)

// replaySafeCore are the tools of the embedding program that may be called again after a restart (contract 4.5).
var replaySafeCore = []string{
	"read", "search", "find", "grep", "glob", "ls", "web_search", "web_fetch", "x_search", "memory_get", "sessions_list",
	"sessions_history", "sessions_search", "agents_list", "conversations_list", "get_goal", "update_plan", "tool_search",
	"tool_describe", "image",
}

// checkReplay refuses, before any of them starts, the pending calls of a restart-safe cell that may not be repeated.
func (c *cell) checkReplay() *Failure {
	c.bridge.mu.Lock()
	defer c.bridge.mu.Unlock()
	spaces, unsafe, others := 0, 0, 0
	for _, k := range c.bridge.queue {
		switch k.method {
		case "namespace":
			spaces++
		case "call", "callValue":
			if id, _ := text(argument(k.args, 0, nil)); !c.replaySafe(id) {
				unsafe++
			}
			others++
		case "search", "describe", "timer":
			others++
		}
	}
	switch {
	case spaces > 0 && unsafe+others == 0:
		return failSpaces
	case spaces+unsafe > 0:
		return failSideEffects
	}
	return nil
}

// replaySafe reports whether the tool with exactly this id may be called again.
func (c *cell) replaySafe(id string) bool {
	e, err := c.scope.Catalog.LookupID(id)
	if err != nil || e.ID != id || e.Source != catalog.SourceOpenClaw {
		return false
	}
	if e.SourceName == catalog.CoreName || e.SourceName == "" {
		return e.ReplaySafe || slices.Contains(replaySafeCore, e.Name)
	}
	return e.ReplaySafe && !e.SideEffecting
}
