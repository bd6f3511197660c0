package namespace

import "strings"

// Error is every error of this package. Its text is exactly that of the code
// mode contract, section 6, or of Cause, and is meant for a model or a plugin author.
type Error struct {
	// Plugin is the id of the plugin concerned, if known.
	Plugin string
	// Namespace is the id of the namespace concerned, if known.
	Namespace string
	// Message is the text.
	Message string
	// Cause is what a function of the registration returned, if that is the error.
	Cause error
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// place is how a path is shown in a message. Guests choose paths, so it is bounded.
func place(path []string) string {
	if len(path) == 0 {
		return "(root)"
	}
	return joined(path)
}

func joined(path []string) string {
	var b strings.Builder
	for i, segment := range path {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(segment)
		if b.Len() > maxShown {
			return clip(b.String())
		}
	}
	return b.String()
}

// maxShown bounds what a message repeats of a guest's request, in bytes.
const maxShown = 200

// maxCause bounds the text of an error of the embedding program, in bytes.
const maxCause = 4096

func clip(s string) string { return clipTo(s, maxShown) }

func clipTo(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

func badSegment(key string) string {
	if key == "" {
		key = "(empty)"
	}
	return "Invalid code mode namespace path segment: " + clip(key)
}
