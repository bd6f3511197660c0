package manifests

import (
	"regexp"
	"slices"
	"strings"
)

const identifierPattern = `^[A-Za-z_$][A-Za-z0-9_$]*$`

var identifier = regexp.MustCompile(identifierPattern)

// CheckGlobalName returns nil when a namespace may have this globalName, or an
// error with the exact message of the code mode contract, sections 6.1 (checks
// 3 to 5) and 6.2. Reserved words of JavaScript are not identifiers.
func CheckGlobalName(name string) error {
	switch {
	case !identifier.MatchString(name) || slices.Contains(reservedWords, name):
		return nameError("Code mode namespace globalName must be a JavaScript identifier.")
	case slices.Contains(reservedGlobals, name), strings.HasPrefix(name, "__openclaw"), strings.HasPrefix(name, "__chela"):
		return nameError(`Code mode namespace globalName "` + name + `" is reserved.`)
	case slices.Contains(hostGlobals, name):
		return nameError(`Code mode namespace globalName "` + name + `" collides with a global.`)
	}
	return nil
}

// nameError is a message whose wording is not ours.
type nameError string

func (e nameError) Error() string { return string(e) }

// UnsafeKey reports whether key may not be a member name of a scope (code mode
// contract, section 6.4): it is empty, contains NUL, or is __proto__,
// constructor or prototype.
func UnsafeKey(key string) bool {
	switch key {
	case "", "__proto__", "constructor", "prototype":
		return true
	}
	return strings.IndexByte(key, 0) >= 0
}

// ReservedName reports whether name is one that code mode itself defines as a
// global (contract, section 6.2) or that JavaScript reserves, so that nothing
// else should be called so.
func ReservedName(name string) bool {
	return slices.Contains(reservedGlobals, name) || slices.Contains(reservedWords, name)
}

// reservedGlobals are the names code mode itself defines (contract, section 6.2).
var reservedGlobals = strings.Fields(`
	ALL_TOOLS agents API Array Boolean Date Error globalThis log json JSON Map Math MCP namespaces
	Number Object Promise phase Set String text tools yield_control`)

// reservedWords cannot be used as a variable in strict code or an async
// function (ECMA-262, sections 12.7.2 and 13.1.1).
var reservedWords = strings.Fields(`
	arguments await break case catch class const continue debugger default delete do else enum export
	extends false finally for function if implements import in instanceof interface let new null package
	private protected public return static super switch this throw true try typeof var void while with yield`)

// hostGlobals are the global names of JavaScript engines and hosts that a
// namespace would hide or be taken for: those of ECMA-262, of the engine, what
// every object inherits, and the ones a model expects from a browser or Node.js.
// The list is fixed, so that a name does not become illegal with an engine.
var hostGlobals = strings.Fields(`
	AggregateError Array ArrayBuffer AsyncDisposableStack AsyncIterator Atomics BigInt BigInt64Array
	BigUint64Array Boolean DataView Date DisposableStack Error EvalError FinalizationRegistry Float16Array
	Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array InternalError Intl Iterator
	JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set ShadowRealm
	SharedArrayBuffer String SuppressedError Symbol SyntaxError Temporal TypeError URIError Uint16Array
	Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet decodeURI decodeURIComponent encodeURI
	encodeURIComponent escape eval globalThis isFinite isNaN parseFloat parseInt undefined unescape

	__defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__ __proto__ constructor hasOwnProperty
	isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf

	bjson gc os print scriptArgs std

	AbortController AbortSignal Blob Buffer CustomEvent DOMException Event EventTarget File FormData Headers
	MessageChannel MessagePort Request Response TextDecoder TextEncoder URL URLSearchParams WebAssembly
	WebSocket XMLHttpRequest alert atob btoa clearImmediate clearInterval clearTimeout console crypto document
	exports fetch global localStorage location module navigator performance process queueMicrotask require
	self sessionStorage setImmediate setInterval setTimeout structuredClone window`)
