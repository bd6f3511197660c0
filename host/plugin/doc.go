// Package plugin runs Extism plugins: it loads a module by its manifest, compiles it once, and calls its exports.
//
//	rt, err := plugin.NewRuntime(nil)
//	defer rt.Close(ctx)
//	p, err := rt.Load(ctx, "plugins/echo", nil)
//	value, err := p.Call(ctx, "echo", json.RawMessage(`{"v": 1}`))
//
// Nothing of one call is visible to the next, and nothing a plugin does takes more time, memory or log than its
// [Limits] say. A plugin has no network and no environment; it reads the directories it was granted and nothing else.
//
// The lifecycle of a module is the Extism SDK's. Everything a guest calls is served here instead, see hostFunctions.
package plugin
