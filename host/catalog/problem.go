package catalog

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

const (
	maxProblems     = 5
	maxProblemBytes = 256
)

// problems keeps the first few of a list in text order: the library reports
// members in random order, and a model should see the same text twice.
type problems struct {
	whole string // name of the document, which has no readable pointer
	texts []string
}

func (p *problems) add(text string) {
	text = clip(text, maxProblemBytes)
	at, found := slices.BinarySearch(p.texts, text)
	if found || at == maxProblems {
		return
	}
	if p.texts = slices.Insert(p.texts, at, text); len(p.texts) > maxProblems {
		p.texts = p.texts[:maxProblems]
	}
}

func collectProblems(err *jsonschema.ValidationError, whole string) []string {
	p := problems{whole: whole}
	p.collect(err)
	if len(p.texts) == 0 {
		p.add(whole + " does not satisfy the schema")
	}
	return p.texts
}

// collect walks to the errors that say something. It names pointers and rules,
// never what was found there.
func (p *problems) collect(err *jsonschema.ValidationError) {
	at := p.whole
	if len(err.InstanceLocation) > 0 {
		at = pointer(err.InstanceLocation)
	}
	say := func(format string, args ...any) { p.add(at + " " + fmt.Sprintf(format, args...)) }
	switch k := err.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		for _, cause := range err.Causes {
			p.collect(cause)
		}
	case nil: // of a check that only wanted yes or no
	case *kind.AnyOf:
		p.alternatives(err, at)
	case *kind.OneOf:
		if k.Subschemas != nil {
			say("matches more than one of the forms of which it must match one")
			return
		}
		p.alternatives(err, at)
	case *kind.Required:
		p.missing(err, k.Missing)
	case *kind.DependentRequired:
		p.missing(err, k.Missing)
	case *kind.Dependency:
		p.missing(err, k.Missing)
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			p.add(pointer(append(slices.Clone(err.InstanceLocation), name)) + " is not a known property")
		}
	case *kind.PropertyNames:
		// The library does not keep the location of this error.
		p.add("the property name " + quoted(k.Property) + " is not allowed")
	case *kind.FalseSchema:
		say("is not allowed")
	default:
		say("%s", rule(k))
	}
}

func (p *problems) missing(err *jsonschema.ValidationError, names []string) {
	for _, name := range names {
		p.add(pointer(append(slices.Clone(err.InstanceLocation), name)) + " is required")
	}
}

// alternatives reports a failed anyOf or oneOf. If all forms but one are of
// another type or constant, what is wrong with that one helps most.
func (p *problems) alternatives(err *jsonschema.ValidationError, at string) {
	var near []*jsonschema.ValidationError
	for _, cause := range err.Causes {
		if !ofOtherKind(cause, len(err.InstanceLocation)) {
			near = append(near, cause)
		}
	}
	if len(near) == 1 {
		p.collect(near[0])
		return
	}
	p.add(at + " matches none of the allowed forms")
}

// ofOtherKind reports whether err says that the value at the given depth, or a
// member of it that tells forms apart, is something else altogether.
func ofOtherKind(err *jsonschema.ValidationError, depth int) bool {
	switch err.ErrorKind.(type) {
	case *kind.Type, *kind.Enum, *kind.FalseSchema:
		return len(err.InstanceLocation) == depth
	case *kind.Const:
		return len(err.InstanceLocation) <= depth+1
	case *kind.Group, *kind.AllOf, *kind.Reference:
		return slices.ContainsFunc(err.Causes, func(c *jsonschema.ValidationError) bool { return ofOtherKind(c, depth) })
	}
	return false
}

// rule says in words what a keyword demands.
func rule(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return "must be " + strings.Join(k.Want, " or ") + ", not " + k.Got
	case *kind.Enum:
		if text, ok := literalUnion(k.Want); ok {
			return "must be one of " + text
		}
		return "must be one of the " + strconv.Itoa(len(k.Want)) + " values of its enum"
	case *kind.Const:
		if text, ok := literal(k.Want); ok {
			return "must be " + text
		}
		return "must be the constant of its schema"
	case *kind.Format:
		return "must have the format " + k.Want
	case *kind.Pattern:
		return "must match the pattern " + quoted(k.Want)
	case *kind.MinLength:
		return fmt.Sprintf("must have at least %d characters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %d characters", k.Want)
	case *kind.Minimum:
		return "must be >= " + number(k.Want)
	case *kind.Maximum:
		return "must be <= " + number(k.Want)
	case *kind.ExclusiveMinimum:
		return "must be > " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "must be < " + number(k.Want)
	case *kind.MultipleOf:
		return "must be a multiple of " + number(k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %d items", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %d items", k.Want)
	case *kind.AdditionalItems:
		return fmt.Sprintf("has %d items too many", k.Count)
	case *kind.UniqueItems:
		return fmt.Sprintf("must not hold equal items (%d and %d are)", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return "holds no item of the demanded form"
	case *kind.MinContains:
		return fmt.Sprintf("must hold at least %d items of the demanded form", k.Want)
	case *kind.MaxContains:
		return fmt.Sprintf("must hold at most %d items of the demanded form", k.Want)
	case *kind.MinProperties:
		return fmt.Sprintf("must have at least %d properties", k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("must have at most %d properties", k.Want)
	case *kind.Not:
		return "has a form that is ruled out"
	}
	if path := k.KeywordPath(); len(path) > 0 {
		return "breaks the rule " + path[0]
	}
	return "does not satisfy the schema"
}

func number(r *big.Rat) string {
	if r.IsInt() {
		return r.RatString()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// pointer renders a location as a JSON Pointer (RFC 6901) on one line.
func pointer(tokens []string) string {
	var out []byte
	for _, token := range tokens {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
		text := appendQuoted(nil, token)
		out = append(append(out, '/'), text[1:len(text)-1]...)
		if len(out) > maxProblemBytes {
			break
		}
	}
	return clip(string(out), maxProblemBytes/2)
}
