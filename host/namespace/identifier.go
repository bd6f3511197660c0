package namespace

import (
	"strconv"
	"strings"

	"github.com/chelahost/chela/manifests"
)

// identifier makes a JavaScript identifier of a name that a server chose
// (section 5.8): its words in camel case, words being runs of ASCII letters and
// digits, without leading digits. A name that leaves nothing, such as one
// without a Latin letter, becomes fallback.
func identifier(name, fallback string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !isAlphanumeric(r) })
	for i, word := range words {
		first := strings.ToLower(word[:1])
		if i > 0 {
			first = strings.ToUpper(first)
		}
		words[i] = first + word[1:]
	}
	if id := strings.TrimLeft(strings.Join(words, ""), "0123456789"); id != "" {
		return id
	}
	return fallback
}

func isAlphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// identifiers hands out the member names of one object, each once.
type identifiers struct {
	reserved []string // of this object alone
	next     map[string]int
	taken    map[string]bool
}

func newIdentifiers(reserved ...string) *identifiers {
	return &identifiers{reserved: reserved, next: map[string]int{}, taken: map[string]bool{}}
}

// unique returns base, with the suffix 2, 3, ... if the object has it already or
// cannot have it.
func (ids *identifiers) unique(base string) string {
	// The count goes on where the last one for base ended, or many equal names
	// would cost the square of their number.
	n := ids.next[base]
	for {
		id := base
		if n++; n > 1 {
			id += strconv.Itoa(n)
		}
		if !ids.taken[id] && !ids.refuses(id) {
			ids.next[base] = n
			ids.taken[id] = true
			return id
		}
	}
}

func (ids *identifiers) refuses(id string) bool {
	for _, r := range ids.reserved {
		if id == r {
			return true
		}
	}
	// eval may not be declared in strict code.
	return manifests.UnsafeKey(id) || manifests.ReservedName(id) || id == "eval"
}
