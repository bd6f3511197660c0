package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schema checks that v is a JSON Schema that compiles by itself.
func (d *decoder) schema(v *value) {
	switch {
	case v.shape != isObject && v.shape != isBool:
		d.faults.add(v, fmt.Sprintf("must be a JSON Schema, is %s", v.shape), `write an object such as {"type": "object"}`)
		return
	case len(v.raw) > MaxSchemaBytes:
		d.faults.add(v, fmt.Sprintf("is %d bytes long", len(v.raw)), fmt.Sprintf("a schema has at most %d", MaxSchemaBytes))
		return
	case count(v) > MaxSchemaValues:
		d.faults.add(v, fmt.Sprintf("holds %d values", count(v)), fmt.Sprintf("a schema has at most %d", MaxSchemaValues))
		return
	case deeper(v, MaxSchemaDepth):
		d.faults.add(v, fmt.Sprintf("is nested deeper than %d levels", MaxSchemaDepth), "move the inner parts to $defs and refer to them")
		return
	}
	faults, cost := d.faults.count(), d.patternCost
	d.references(v)
	d.patterns(v)
	if d.faults.count() > faults || d.patternCost > max(cost, MaxPatternCost) {
		return // compiling would say the same again, or take the memory
	}
	if err := d.compile(v); err != nil {
		d.schemaFault(v, err)
	}
}

// count returns the number of values in v, with v.
func count(v *value) int {
	n := 1
	for _, c := range v.children {
		n += count(c)
	}
	return n
}

func deeper(v *value, levels int) bool {
	if levels < 0 {
		return true
	}
	for _, c := range v.children {
		if deeper(c, levels-1) {
			return true
		}
	}
	return false
}

// references reports every $ref that leads out of the schema. The compiler
// would stop at the first, and says less.
func (d *decoder) references(v *value) {
	for _, c := range v.children {
		if (c.key == "$ref" || c.key == "$dynamicRef") && c.shape == isString && v.shape == isObject && remote(c.text) {
			d.faults.add(c, fmt.Sprintf("%q leads out of the schema", clip(c.text)), "nothing is fetched; put the schema under $defs and refer to #/$defs/name")
		}
		d.references(c)
	}
}

func remote(ref string) bool {
	// The dialects themselves are built in.
	return ref != "" && ref[0] != '#' && !strings.HasPrefix(ref, "http://json-schema.org/draft-") && !strings.HasPrefix(ref, "https://json-schema.org/draft/")
}

// schemaURL is the base of a schema while it is compiled. It cannot be fetched.
const schemaURL = "schema:manifest"

var errRemote = errors.New("nothing is fetched")

// closed is a loader that loads nothing.
type closed struct{}

func (closed) Load(string) (any, error) { return nil, errRemote }

// compile compiles a schema. A compiler of its own for each schema keeps them
// from referring to one another.
func (d *decoder) compile(v *value) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(v.raw))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(closed{})
	if err := c.AddResource(schemaURL, doc); err != nil {
		return err
	}
	_, err = c.Compile(schemaURL)
	return err
}

// patterns counts what the regular expressions below v take. Matching takes
// linear time, but x{1000} makes a program a thousand times as long as its text.
// Counting before compiling keeps to the order of the document.
func (d *decoder) patterns(v *value) {
	for _, c := range v.children {
		if v.key == "patternProperties" && v.shape == isObject {
			d.weigh(c, c.key)
		}
		if c.key == "pattern" && v.shape == isObject && c.shape == isString {
			d.weigh(c, c.text)
		}
		d.patterns(c)
	}
}

func (d *decoder) weigh(v *value, expr string) {
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return // reported with the schema, if it is an expression at all
	}
	before := d.patternCost
	d.patternCost += patternCost(parsed, MaxPatternCost)
	if before <= MaxPatternCost && d.patternCost > MaxPatternCost {
		d.faults.add(v, fmt.Sprintf("makes the patterns of the manifest too big: written out they have more than %d parts", MaxPatternCost),
			"use smaller or fewer repetitions such as x{1000}; maxLength costs nothing")
	}
}

// patternCost estimates the length of the program, and stops counting at most.
func patternCost(re *syntax.Regexp, most int) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		if n += patternCost(sub, most); n > most {
			return most + 1
		}
	}
	if re.Op == syntax.OpRepeat {
		n = 1 + (n-1)*max(re.Min, re.Max, 1)
	}
	return min(n, most+1)
}

// schemaFault reports why a schema does not compile, at the places the compiler names.
func (d *decoder) schemaFault(v *value, err error) {
	var invalid *jsonschema.ValidationError
	if mismatch := (*jsonschema.SchemaValidationError)(nil); !errors.As(err, &mismatch) || !errors.As(mismatch.Err, &invalid) {
		text := strings.ReplaceAll(strings.ReplaceAll(err.Error(), schemaURL+"#", "#"), schemaURL, "the schema")
		d.faults.add(v, "is not a valid JSON Schema: "+clipLong(text), "correct the schema")
		return
	}
	reported := make(map[*value]bool)
	var leaves func(e *jsonschema.ValidationError)
	leaves = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			leaves(cause)
		}
		at := v.descend(e.InstanceLocation)
		if len(e.Causes) > 0 || reported[at] {
			return
		}
		reported[at] = true
		problem := "is not valid in a JSON Schema"
		if unit := e.DetailedOutput(); unit.Error != nil {
			problem += ": " + clipLong(unit.Error.String())
		}
		d.faults.add(at, problem, "correct the schema")
	}
	leaves(invalid)
}

// descend follows the tokens of a JSON Pointer as far as they lead.
func (v *value) descend(tokens []string) *value {
	for _, token := range tokens {
		next := v.member(token)
		if i, err := strconv.Atoi(token); err == nil && v.shape == isArray && i >= 0 && i < len(v.children) {
			next = v.children[i]
		}
		if next == nil {
			break
		}
		v = next
	}
	return v
}

func clipLong(s string) string { return clipTo(strings.Join(strings.Fields(s), " "), 300) }
