package policy

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Bounds on what records and approvals show.
const (
	// DefaultMaxLeafBytes is the most of one string that is kept.
	DefaultMaxLeafBytes = 2 << 10
	// DefaultMaxBytes is the most of one input or result that is kept.
	DefaultMaxBytes = 16 << 10
	// MinMaxBytes is the least that RedactOptions.MaxBytes can ask for.
	MinMaxBytes = 256
	// maxKeyBytes is the most of a member's name that is kept.
	maxKeyBytes = 256
	// maxDepth is how deep values are shown.
	maxDepth = 64
)

// What stands for what is not shown.
const (
	redactedMark  = "[redacted]"
	truncatedMark = "[truncated]"
	invalidMark   = "[not JSON]"
)

// RedactOptions configure [NewRedactor].
type RedactOptions struct {
	// String, if set, is asked about each string that the built-in rules left, with the names and indexes that lead to it;
	// what it returns is kept. path is valid during the call only. Strings may hold lone surrogates as three bytes
	// (WTF-8): pass through what you do not know. It must be safe for concurrent use.
	String func(path []string, value string) string
	// MaxLeafBytes bounds one string, in bytes of UTF-8; 0 is DefaultMaxLeafBytes.
	MaxLeafBytes int
	// MaxBytes bounds the whole, in bytes of JSON; 0 is DefaultMaxBytes, and MinMaxBytes is the least.
	MaxBytes int
}

// Redactor takes secrets out of JSON values and texts, and bounds them. It looks
// at the strings of a value, never at its encoded text. Members whose names look
// like secrets (password, accessToken, Authorization, api_key, cookie, ...) lose
// their strings and numbers; elsewhere, what looks like a credential is cut out of
// the strings. It is immutable and safe for concurrent use.
type Redactor struct {
	own     func(path []string, value string) string
	leaf    int
	max     int
	scanner *scanner
}

// NewRedactor makes a redactor. opts may be nil.
func NewRedactor(opts *RedactOptions) *Redactor {
	var o RedactOptions
	if opts != nil {
		o = *opts
	}
	if o.MaxLeafBytes <= 0 {
		o.MaxLeafBytes = DefaultMaxLeafBytes
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	return &Redactor{own: o.String, leaf: o.MaxLeafBytes, max: max(o.MaxBytes, MinMaxBytes), scanner: newScanner()}
}

// Text returns s without what looks like a credential, and bounded like a string of a value.
func (r *Redactor) Text(s string) string {
	return strings.ToValidUTF8(r.text(nil, s), "\uFFFD")
}

func (r *Redactor) text(path []string, s string) string {
	// A credential that is cut in two is not recognized, so more is scanned than is kept.
	const slack = 1 << 10
	size := len(s)
	long := size > r.leaf+slack
	if long {
		s = r.scanner.scan(s[:r.leaf+slack])
		s = head(s, max(0, len(s)-slack))
	} else {
		s = r.scanner.scan(s)
	}
	if r.own != nil {
		s = r.own(path, s)
	}
	if len(s) > r.leaf || long {
		s = head(s, r.leaf) + "… [truncated, " + strconv.Itoa(size) + " bytes]"
	}
	return s
}

// secretName reports whether a member with this name holds a secret, and whether
// a number there can be one: max_tokens and the like are counts.
func secretName(name string) (text, number bool) {
	if len(name) > maxKeyBytes {
		name = name[:maxKeyBytes]
	}
	var words []string
	start, prev := 0, rune(0)
	flush := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(name[start:end]))
		}
	}
	for i, c := range name {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			flush(i)
			start = i + len(string(c))
			if c == unicode.ReplacementChar {
				start = i + 1
			}
		case unicode.IsUpper(c) && unicode.IsLower(prev):
			flush(i)
			start = i
		}
		prev = c
	}
	if start < len(name) {
		flush(len(name))
	}
	joined := strings.Join(words, "")
	for _, part := range []string{"password", "passwd", "passphrase", "passcode", "secret", "credential", "authorization", "cookie",
		"apikey", "privatekey", "accesskey", "signingkey", "encryptionkey", "authkey", "bearer"} {
		if strings.Contains(joined, part) {
			return true, true
		}
	}
	for _, w := range words {
		switch w {
		case "auth", "pwd", "pass", "otp", "cvv", "cvc", "jwt":
			return true, true
		}
	}
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(w, "token") || strings.HasSuffix(w, "tokens") }) ||
		strings.HasSuffix(joined, "token"), false
}

// JSON returns a redacted copy of a JSON value. It is always one valid JSON value
// of at most MaxBytes, also when raw is not JSON at all. Lone surrogates in
// strings survive. Empty raw gives null.
func (r *Redactor) JSON(raw json.RawMessage) json.RawMessage {
	w := walker{r: r, in: raw, out: make([]byte, 0, min(len(raw)+64, r.max))}
	w.space()
	if w.at == len(w.in) {
		return json.RawMessage("null")
	}
	// What is beyond the bound is not read, so it need not be valid.
	w.value(false, false)
	w.space()
	if w.bad || !w.full && w.at != len(w.in) {
		return json.RawMessage(`"` + invalidMark + `"`)
	}
	return w.out
}
