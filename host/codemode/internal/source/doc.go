// Package source is everything between a model's text and the script the guest evaluates: it recognises what the
// text is, refuses what must not run, wraps the rest so that the text cannot leave its wrapper, and maps positions
// back to the model's own lines.
//
// An ordinary JavaScript cell costs a few scans of its bytes; the guest is its parser. esbuild is called for
// TypeScript, where a scan found something that only a parser can judge, and to explain what the guest refused.
package source
