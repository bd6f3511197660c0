package namespace

import "strings"

// Error is every error of this package. Its text is exactly that of the code
// mode contract, section 6, and is meant for a model or a plugin author.
type Error struct {
	// Plugin is the id of the plugin concerned, if known.
	Plugin string
	// Namespace is the id of the namespace concerned, if known.
	Namespace string
	// Message is the text.
	Message string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

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

func clip(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "…"
}

func badSegment(key string) string {
	if key == "" {
		key = "(empty)"
	}
	return "Invalid code mode namespace path segment: " + clip(key)
}
