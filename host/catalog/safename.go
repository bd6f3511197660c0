package catalog

// SafeName is a tool that guests can call as tools.<Name>(input).
type SafeName struct{ Name, ID string }

// SafeNames returns, in catalog order, the tools with a convenience function:
// those whose name is a JavaScript identifier as it stands, is not a member
// tools has already, and belongs to one non-MCP entry only. Names such as
// constructor and __proto__ are among them: tools has no prototype.
func (c *Catalog) SafeNames() []SafeName {
	names := c.names()
	out := make([]SafeName, 0, len(c.entries))
	for _, e := range c.entries {
		if e.safe && e.Source != SourceMCP && len(names[e.Name]) == 1 {
			out = append(out, SafeName{e.Name, e.ID})
		}
	}
	return out
}

func isSafeName(name string) bool {
	switch name {
	case "search", "describe", "call", "callValue":
		return false
	}
	return isIdentifier(name)
}

// isIdentifier reports whether name matches ^[A-Za-z_$][A-Za-z0-9_$]*$.
func isIdentifier(name string) bool {
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == '$':
		case i > 0 && c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return name != ""
}
