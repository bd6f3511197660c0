package surface

import (
	"encoding/json"
	"strings"

	"github.com/chelahost/chela/host/catalog"
)

// Bounds of the fixed texts, in UTF-16 code units: they are in every request a model gets (B23).
const (
	// MaxDescription bounds the description of exec without namespaces, MCP and the tool index.
	MaxDescription = 2400
	// MaxCodeText bounds the description of the code parameter.
	MaxCodeText = 620
)

// Exec returns the definition of exec for a run (3.1, 3.2). opts may be nil.
func Exec(opts *Options) Definition {
	var o Options
	if opts != nil {
		o = *opts
	}
	languages := enabled(o.Languages)
	return Definition{
		Name:        ExecName,
		Label:       ExecName,
		Description: describe(&o, languages),
		InputSchema: execSchema(languages),
	}
}

// base is true of every run. It leads with what a program gets and gives, then the rules that save a model a wrong call.
const base = "Run a program that calls tools. `code` is the body of an async function: use `return` for the final value, otherwise it is `null`; `await` works at the top level.\n" +
	"`ALL_TOOLS` is the complete compact catalog: an array of { id, name, description, input, output? }. " +
	"`tools.search(query: string, options?)` resolves to matching entries, options { limit }; " +
	"`tools.describe(id: string)` to one entry with its full schemas; " +
	"`tools.callValue(id: string, args?)` calls a tool and resolves to its value; `tools.<name>(args?)` does the same where a name is a unique identifier; " +
	"`tools.call(id: string, args?)` resolves to the raw `{ tool, result }` envelope. " +
	"Take exact ids from the catalog; never invent or transform an id.\n" +
	"Output declared: select, call and process in the first exec. " +
	"Output unknown (`-> ?`): never guess fields; return the raw value with `return await tools.callValue(id, args);` and process it in a later exec, also when it is the last of several dependent calls. " +
	"Await dependent calls in order; run only independent work in parallel. " +
	"Nested calls keep policy and approvals. A failed call rejects with an Error that has `message` and `code`.\n" +
	"Example: `const [t] = await tools.search(\"weather forecast\"); return t ? await tools.callValue(t.id, { city: \"Oslo\" }) : \"no such tool\";`\n" +
	"`text(value)`, `json(value)` and `console.log(...)` add output items; each is delivered once. `setTimeout` and `clearTimeout` exist. " +
	"A program that still waits for calls when its time is over, or that awaits `yield_control()`, gives status `waiting` and a `runId` for the wait tool. " +
	"Node.js modules and `require`/`import` are NOT available."

const (
	apiText        = "`API.list(prefix?)` and `API.read(path)` give the virtual files that declare types."
	mcpText        = "MCP tools are reachable only through the `MCP` namespace, not through `tools` or `ALL_TOOLS`."
	namespacesText = "Registered namespaces are globals and members of `namespaces`; their functions are async and call tools."
)

// describe composes the description. The order is the contract's; a sentence about what a run does not have is left out.
func describe(o *Options, languages []string) string {
	unknown := o.Catalog == nil
	mcp := unknown || o.Catalog.Sources()[catalog.SourceMCP] > 0
	prompt := strings.TrimSpace(o.NamespacePrompt)

	lines := []string{base}
	if mcp {
		lines = append(lines, apiText, mcpText)
	}
	if unknown || prompt != "" {
		lines = append(lines, namespacesText)
	}
	lines = append(lines, languageText(languages))
	text := strings.Join(lines, "\n")
	if prompt != "" {
		text += "\n\n" + prompt
	}
	if !unknown {
		if index := o.Catalog.QuickIndex(); index != "" {
			text += "\n\n" + index
		}
	}
	return text
}

// codeText is read right before a model writes the program, so it repeats what goes wrong most.
func codeText(languages []string) string {
	return titles(languages) + " source for one whole workflow. " +
		"Pick exact ids from `ALL_TOOLS` or `tools.search`, never invent them; `tools.search` takes a query string. " +
		"Keep dependent operations in this program, awaited in order and out of `Promise.all`. " +
		"Return the final value with `return`. " +
		"`API` virtual files and namespace globals exist; Node built-ins do not."
}

func execSchema(languages []string) json.RawMessage {
	type properties struct {
		Code        property `json:"code"`
		Command     property `json:"command"`
		Language    property `json:"language"`
		RestartSafe property `json:"restartSafe"`
	}
	return schema(struct {
		Type       string     `json:"type"`
		Properties properties `json:"properties"`
	}{"object", properties{
		Code:     property{Type: "string", Description: codeText(languages)},
		Command:  property{Type: "string", Description: "Another name for `code`, for hook policies that know tools called exec. Give one of the two."},
		Language: property{Type: "string", Enum: languages, Description: languageParameter(languages)},
		RestartSafe: property{Type: "boolean", Description: "Set to true only when every catalog call is explicitly replay-safe: " +
			"calls of unmarked or side-effecting tools and of plugin namespaces are then refused. Default false."},
	}})
}
