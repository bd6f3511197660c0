package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/host/namespace"
	"github.com/chelahost/chela/host/policy"
)

// mcpHost gives a host with a core tool and the entries of two MCP servers. Every MCP tool answers with its own id and
// input, as structured content.
func mcpHost(t *testing.T, rules policy.Rules) *host.Run {
	t.Helper()
	h := open(t, &host.Options{Policy: rules})
	answer := catalog.RunnerFunc(func(_ context.Context, call catalog.Call) (catalog.Result, error) {
		return catalog.Result{Native: json.RawMessage(`{"_meta":{"secret":1},"content":[{"type":"text","text":"ok"}],"structuredContent":{"tool":"` +
			call.Tool + `","input":` + string(call.Input) + `},"isError":false}`)}, nil
	})
	register := func(tool catalog.Tool) {
		t.Helper()
		if tool.Runner == nil {
			tool.Runner = answer
		}
		if err := h.RegisterTool(tool); err != nil {
			t.Fatal(err)
		}
	}
	github := func(name, description, schema string) {
		t.Helper()
		register(catalog.Tool{
			Name: "github__" + name, Description: description, InputSchema: json.RawMessage(schema),
			MCP: &catalog.MCPTool{ServerName: "GitHub", SafeServerName: "github", ToolName: name},
		})
	}
	docs := func(operation string) {
		t.Helper()
		register(catalog.Tool{Name: "docs__" + operation, MCP: &catalog.MCPTool{ServerName: "docs", SafeServerName: "docs", ToolName: operation, Operation: operation}})
	}
	register(catalog.Tool{Name: "read", Description: "Read a file."})
	github("create_issue", "Create a GitHub issue.\nSecond */ line.", `{"type":"object","properties":{
		"title":{"type":"string","description":"Title\nof the issue"},"body":{"type":"string","default":""},
		"labels":{"type":"array","items":{"enum":["bug","idea"]}}},"required":["title"]}`)
	github("constructor", "", `{"type":"object"}`)
	github("prototype", "", `{"type":"object"}`)
	register(catalog.Tool{Name: "github__refuse", MCP: &catalog.MCPTool{ServerName: "GitHub", SafeServerName: "github", ToolName: "refuse"},
		Runner: catalog.RunnerFunc(func(context.Context, catalog.Call) (catalog.Result, error) {
			return catalog.Result{Native: json.RawMessage(`{"content":[{"type":"text","text":"no","_meta":{"kept":true}}],"isError":true}`)}, nil
		})})
	register(catalog.Tool{Name: "github__fail", MCP: &catalog.MCPTool{ServerName: "GitHub", SafeServerName: "github", ToolName: "fail"},
		Runner: catalog.RunnerFunc(func(context.Context, catalog.Call) (catalog.Result, error) {
			return catalog.Result{}, errors.New("the server is gone")
		})})
	for _, operation := range []string{catalog.OperationResourcesList, catalog.OperationResourcesRead, catalog.OperationPromptsList, catalog.OperationPromptsGet} {
		docs(operation)
	}
	return start(t, h)
}

// gives runs a cell and compares its value.
func gives(t *testing.T, run *host.Run, code, want string) {
	t.Helper()
	res, err := run.Exec(t.Context(), "call-1", codemode.ExecArguments{Code: code})
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != "completed" {
		t.Fatalf("%s: %s %s", res.Status, res.Code, res.Error)
	}
	diffJSON(t, "value", res.Value, json.RawMessage(want))
}

func TestA30_MCPRoot(t *testing.T) {
	run := mcpHost(t, policy.Rules{})
	gives(t, run, `const { header, note, ...rest } = await MCP.$api();
		return { ...rest, header: header.includes("readonly github: typeof MCP.github;"), note: typeof note, names: [MCP.github.$serverName, MCP.docs.$serverName], keys: Object.keys(MCP) }`,
		`{"kind":"mcp_api","scope":"root","servers":[{"identifier":"docs","serverName":"docs","toolCount":4},{"identifier":"github","serverName":"GitHub","toolCount":5}],
		"header":true,"note":"string","names":["GitHub","docs"],"keys":["$api","docs","github"]}`)
}

func TestA31_MCPToolAPI(t *testing.T) {
	run := mcpHost(t, policy.Rules{})
	gives(t, run, `const a = await MCP.github.$api("create_issue", { schema: true });
		return { scope: a.scope, server: a.server, tools: a.tools, keys: Object.keys(a.schemas), required: a.schemas.createIssue.required,
			header: a.header.includes("function createIssue(") && !a.header.includes("constructor2") }`,
		`{"scope":"tool","server":{"identifier":"github","serverName":"GitHub"},
		"tools":[{"method":"createIssue","path":["createIssue"],"mcpTool":"create_issue","operation":"tool","description":"Create a GitHub issue.\nSecond */ line."}],
		"keys":["createIssue"],"required":["title"],"header":true}`)
	gives(t, run, `const all = await MCP.github.$api(" ");
		const path = await MCP.docs.$api("resources.list");
		return [all.scope, all.tools.map(t => t.method), all.schemas === undefined, path.scope, (await MCP.github.$api("nope")).tools]`,
		`["server",["constructor2","createIssue","fail","prototype2","refuse"],true,"tool",[]]`)
}

func TestA32_A36_MCPFiles(t *testing.T) {
	run := mcpHost(t, policy.Rules{})
	gives(t, run, `const files = API.list().files;
		for (const f of files) {
			const g = API.read(f.path);
			if (g.bytes !== f.bytes || g.description !== f.description || g.content.length === 0) throw new Error(f.path);
		}
		const github = API.read("mcp/github.d.ts").content;
		return [files.map(f => f.path), API.list("mcp/").files.length, API.list("mcp/github.d.ts").files.length,
			github.includes("@param title Title of the issue"), github.includes("Second * / line."), API.read("mcp/index.d.ts").content.split("\n")[0]]`,
		`[["mcp/index.d.ts","mcp/docs.d.ts","mcp/github.d.ts"],3,1,true,true,"/// <reference path=\"./docs.d.ts\" />"]`)
}

func TestA33_MCPDefault(t *testing.T) {
	run := mcpHost(t, policy.Rules{})
	gives(t, run, `return (await MCP.github.createIssue({ title: "a", body: undefined })).structuredContent`,
		`{"tool":"mcp:github:github__create_issue","input":{"title":"a","body":""}}`)
}

func TestA34_MCPHidden(t *testing.T) {
	run := mcpHost(t, policy.Rules{})
	gives(t, run, `const caught = async (f) => { try { return await f() } catch (e) { return e.code + ": " + e.message } };
		return [await tools.search("github create_issue"), (await tools.search("")).map(e => e.id), ALL_TOOLS.map(e => e.id), Object.keys(tools).includes("github__fail"),
			await caught(() => tools.describe("github__create_issue")),
			(await caught(() => tools.call("mcp:github:github__create_issue", {}))).slice(0, 64),
			(await caught(() => tools.callValue("github__create_issue"))).slice(0, 52)]`,
		`[[],["openclaw:core:read"],["openclaw:core:read"],false,
		"invalid_input: Unknown tool id: github__create_issue. Use tools.search to find a tool, tools.describe to inspect it, then tools.call with the exact id or name.",
		"invalid_input: Unknown tool id: mcp:github:github__create_issue.",
		"invalid_input: Unknown tool id: github__create_issue"]`)
}

func TestA35_MCPInNamespaces(t *testing.T) {
	run := mcpHost(t, policy.Rules{})
	gives(t, run, `return ["MCP" in namespaces, namespaces.MCP === MCP, Object.isFrozen(MCP), Object.isFrozen(MCP.github)]`, `[true,true,true,true]`)
	prompt := namespace.Prompt(run.Namespaces())
	if !strings.HasPrefix(prompt, "Registered namespace globals are available in code mode:\n- MCP: MCP server tools grouped by server.\n") ||
		!strings.Contains(prompt, "visible servers: docs, github.") {
		t.Error(prompt)
	}
	gives(t, start(t, open(t, nil)), `return ["MCP" in namespaces, typeof MCP, API.list().files]`, `[false,"undefined",[]]`)
}

func TestA37_MCPReadThenCall(t *testing.T) {
	run := mcpHost(t, policy.Rules{})
	gives(t, run, `const { content } = API.read("mcp/github.d.ts");
		const method = /function (create\w+)\(/.exec(content)[1];
		const { structuredContent, ...rest } = await MCP.github[method]({ title: "from the file" });
		return [method, structuredContent.input.title, rest]`,
		`["createIssue","from the file",{"content":[{"type":"text","text":"ok"}],"isError":false}]`)
}

func TestA38_MCPGroups(t *testing.T) {
	run := mcpHost(t, policy.Rules{})
	gives(t, run, `const call = async (f, x) => (await f(x)).structuredContent.tool;
		return [await call(MCP.docs.resources.list), await call(MCP.docs.resources.read, { uri: "a" }), await call(MCP.docs.prompts.list, {}), await call(MCP.docs.prompts.get, { name: "b" }),
			Object.keys(MCP.docs)]`,
		`["mcp:docs:docs__resources_list","mcp:docs:docs__resources_read","mcp:docs:docs__prompts_list","mcp:docs:docs__prompts_get",["$serverName","$api","resources","prompts"]]`)
}

func TestA39_MCPUnsafeIdentifiers(t *testing.T) {
	run := mcpHost(t, policy.Rules{})
	gives(t, run, `return [(await MCP.github.constructor2()).structuredContent.tool, (await MCP.github.prototype2({})).structuredContent.tool, typeof MCP.github.constructor, typeof MCP.github.prototype]`,
		`["mcp:github:github__constructor","mcp:github:github__prototype","undefined","undefined"]`)
}

func TestR18_MCPResults(t *testing.T) {
	run := mcpHost(t, policy.Rules{})
	gives(t, run, `const whole = await MCP.github.createIssue({ title: "a" });
		const refused = await MCP.github.refuse();
		const failed = await MCP.github.fail().catch(e => [e.code, e.message]);
		return [Object.keys(whole), whole.isError, refused, failed]`,
		`[["content","structuredContent","isError"],false,{"content":[{"type":"text","text":"no","_meta":{"kept":true}}],"isError":true},["tool_error","the server is gone"]]`)
}

// What goes wrong before the tool runs can be caught, and says what to do.
func TestMCPCallRefused(t *testing.T) {
	run := mcpHost(t, policy.Rules{})
	gives(t, run, `const caught = async (f, ...a) => { try { return await f(...a) } catch (e) { return e.message } };
		const f = MCP.github.createIssue;
		return [await caught(f, {}, {}), await caught(f, "a"), await caught(f, [1]), await caught(f), await caught(MCP.github.$api, 1)]`,
		`["MCP namespace tools accept one object argument.","MCP namespace tools accept one object argument.","MCP namespace tools accept one object argument.",
		"Missing required MCP namespace argument: title","The first argument of MCP.github.$api is the name of a tool, a string."]`)
}

// What the gate hides is nowhere: not in the tree, not in $api, not in a file.
func TestMCPDenied(t *testing.T) {
	run := mcpHost(t, policy.Rules{Deny: []string{"mcp:docs:*", "mcp:github:github__create_issue"}})
	gives(t, run, `const root = await MCP.$api(), github = await MCP.github.$api();
		return [Object.keys(MCP), root.servers.length, github.tools.map(t => t.method), API.list().files.map(f => f.path), API.read("mcp/github.d.ts").content.includes("createIssue")]`,
		`[["$api","github"],1,["constructor2","fail","prototype2","refuse"],["mcp/index.d.ts","mcp/github.d.ts"],false]`)
	gives(t, start(t, open(t, &host.Options{Policy: policy.Rules{Deny: []string{"mcp:*"}}})), `return "MCP" in namespaces`, `false`)
}
