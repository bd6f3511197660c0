package namespace

import (
	"strconv"
	"strings"
)

// File is a virtual file that programs read with API.read (section 5.6).
type File struct {
	Path        string `json:"path"`
	Content     string `json:"content"`
	Description string `json:"description"`
	Bytes       int    `json:"bytes"` // of Content, in UTF-8
}

// Bounds on declarations. They are part of every guest of a run.
const (
	// MaxFileBytes is the greatest size of one server's declarations. Tools that
	// do not fit are counted in the file; $api declares each of them.
	MaxFileBytes = 256 << 10
	// MaxFilesBytes is the greatest size of all declarations of a run together.
	// Servers that do not fit are counted in the index and have no file.
	MaxFilesBytes = 2 << 20

	maxDocLines     = 12
	maxDocLineBytes = 1000
	maxDefaultBytes = 200
)

const (
	fileFolder = "mcp/"
	fileEnding = ".d.ts"
	indexFile  = "index" // which no server can be called
)

// preamble declares what every server's file refers to. The types are
// interfaces since several files may be read as one program.
const preamble = `interface McpApiHeader {
  kind: "mcp_api";
  scope: "root" | "server" | "tool";
  header: string;
  servers?: { identifier: string; serverName: string; toolCount: number }[];
  server?: { identifier: string; serverName: string };
  tools?: { method: string; path: string[]; mcpTool: string; operation: string; description: string }[];
  schemas?: Record<string, unknown>;
  note: string;
}

interface McpToolResult {
  content: unknown[];
  structuredContent?: unknown;
  isError?: boolean;
  [key: string]: unknown;
}

`

// declare makes the virtual files: the index, then the servers in their order.
func (m *mcp) declare() []File {
	files := make([]File, 1, 1+len(m.servers))
	left := MaxFilesBytes - MaxFileBytes // which is for the index
	for _, s := range m.servers {
		content := preamble + s.declare(s.tools, MaxFileBytes-len(preamble))
		if left -= len(content); left < 0 {
			break
		}
		files = append(files, newFile(s.identifier, content, "Declarations of the "+plural(len(s.tools), "tool")+" of MCP server "+string(quote(s.name))))
	}
	files[0] = newFile(indexFile, m.declareIndex(len(files)-1), "Index of "+plural(len(m.servers), "MCP server"))
	return files
}

func newFile(name, content, description string) File {
	return File{Path: fileFolder + name + fileEnding, Content: content, Description: description, Bytes: len(content)}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// declareIndex declares MCP itself, with references to the files of the first
// servers, in at most MaxFileBytes and a little.
func (m *mcp) declareIndex(withFile int) string {
	var b strings.Builder
	for i, s := range m.servers {
		if i == withFile || b.Len() > MaxFileBytes/2 {
			b.WriteString("// " + plural(len(m.servers)-i, "more server") + ": declared by MCP.<server>.$api().\n")
			break
		}
		b.WriteString(`/// <reference path="./` + s.identifier + fileEnding + "\" />\n")
	}
	b.WriteString("\ndeclare const MCP: {\n  /** List the MCP servers. */\n  $api(): Promise<McpApiHeader>;\n")
	for i, s := range m.servers {
		if b.Len() > MaxFileBytes {
			b.WriteString("  // " + plural(len(m.servers)-i, "more server") + ": listed by MCP.$api().\n")
			break
		}
		b.WriteString("  readonly " + s.identifier + ": typeof MCP." + s.identifier + ";\n")
	}
	b.WriteString("};\n")
	return b.String()
}

// declare declares some tools of a server, in at most max bytes and a little.
func (s *mcpServer) declare(tools []*mcpTool, max int) string {
	var b strings.Builder
	b.WriteString("declare namespace MCP." + s.identifier + " {\n" +
		"  /** Return this TypeScript-style API header. */\n" +
		"  function $api(toolName?: string, options?: { schema?: boolean }): Promise<McpApiHeader>;\n")
	omitted := 0
	function := func(t *mcpTool, before, indent string) {
		text := declareFunction(t, indent)
		if b.Len()+len(text) > max {
			omitted++
			return
		}
		b.WriteString(before + text)
	}
	for _, t := range group(tools, "") {
		function(t, "\n", "  ")
	}
	for _, name := range []string{promptsGroup, resourcesGroup} { // sorted
		inner := group(tools, name)
		if len(inner) == 0 {
			continue
		}
		b.WriteString("\n  namespace " + name + " {\n")
		for i, t := range inner {
			function(t, "\n"[:min(i, 1)], "    ")
		}
		b.WriteString("  }\n")
	}
	if omitted > 0 {
		b.WriteString("\n  // " + plural(omitted, "more tool") + " not declared here: use MCP." + s.identifier + ".$api(tool).\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// declareFunction declares one tool.
func declareFunction(t *mcpTool, indent string) string {
	var b strings.Builder
	params := t.params()
	writeDoc(&b, indent, t.entry.Description, params)
	b.WriteString(indent + "function " + t.path[len(t.path)-1] + "(\n")
	if len(params) == 0 {
		b.WriteString(indent + "  input?: Record<string, never>\n")
	} else {
		mark := "?"
		for _, p := range params {
			if p.demanded() {
				mark = ""
			}
		}
		b.WriteString(indent + "  input" + mark + ": {\n")
		for _, p := range params {
			writeParameter(&b, indent+"    ", p)
		}
		b.WriteString(indent + "  }\n")
	}
	b.WriteString(indent + "): Promise<McpToolResult>;\n")
	return b.String()
}

// demanded reports whether a call without the parameter is refused. One that has
// a default is not missed.
func (p *parameter) demanded() bool { return p.required && p.fallback == nil }

// label is the parameter's name as a property of a type, with ? if a call need
// not have it.
func (p *parameter) label() string {
	if p.demanded() {
		return propertyName(p.name)
	}
	return propertyName(p.name) + "?"
}

func writeParameter(b *strings.Builder, indent string, p parameter) {
	doc := p.description
	if p.fallback != nil {
		value := string(p.fallback)
		if len(value) > maxDefaultBytes {
			value = clip(value)
		}
		doc += " Default: " + value + "."
	}
	if doc = comment(doc); doc != "" {
		b.WriteString(indent + "/** " + doc + " */\n")
	}
	b.WriteString(indent + p.label() + ": " + typeOf(p.schema) + ";\n")
}

// writeDoc writes the comment above a function, or nothing if nothing is known.
func writeDoc(b *strings.Builder, indent, description string, params []parameter) {
	var lines []string
	for line := range strings.FieldsFuncSeq(description, isLineBreak) {
		if line = comment(line); line != "" {
			lines = append(lines, line)
		}
		if len(lines) == maxDocLines {
			break
		}
	}
	for _, p := range params {
		if doc := comment(p.description); doc != "" {
			lines = append(lines, comment("@param "+p.label())+" "+doc)
		}
	}
	if len(lines) == 0 {
		return
	}
	b.WriteString(indent + "/**\n")
	for _, line := range lines {
		b.WriteString(indent + " * " + line + "\n")
	}
	b.WriteString(indent + " */\n")
}

func isLineBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085' || r == '\v' || r == '\f'
}

// comment makes one line of text that a server wrote, safe inside a block
// comment: the text can neither end the comment nor begin a line of its own.
func comment(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if len(s) > maxDocLineBytes {
		s = strings.ToValidUTF8(s[:maxDocLineBytes], "") + "…"
	}
	return strings.ReplaceAll(s, "*/", "* /")
}
