package manifests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/chelahost/chela/internal/spelling"
)

// decoder fills Go values from a tree. The types say what is allowed: the json
// tag names a member, omitempty or omitzero makes it optional, and the rule tag
// names an entry of rules.
type decoder struct {
	faults      collector
	fields      map[reflect.Type][]field
	patternCost int
}

// field is what the tags of a struct field say.
type field struct {
	index    int
	name     string
	required bool
	rule     *rule // nil: none
}

var (
	rawType   = reflect.TypeFor[json.RawMessage]()
	scopeType = reflect.TypeFor[Scope]()
)

// structFields reads the tags of a struct type.
func structFields(t reflect.Type) []field {
	list := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		list = append(list, field{
			index:    i,
			name:     name,
			required: !strings.Contains(options, "omit"),
			rule:     rules[f.Tag.Get("rule")],
		})
	}
	return list
}

// fill sets dst from v, or reports why it cannot.
func (d *decoder) fill(v *value, dst reflect.Value, r *rule) {
	switch dst.Type() {
	case rawType:
		d.schema(v)
		dst.SetBytes(compact(v.raw))
		return
	case scopeType:
		dst.Set(reflect.ValueOf(d.scope(v)))
		return
	}
	switch dst.Kind() {
	case reflect.Pointer:
		target := reflect.New(dst.Type().Elem())
		dst.Set(target)
		d.fill(v, target.Elem(), r)
	case reflect.Struct:
		if d.want(v, isObject, "write an object with the members "+strings.Join(names(d.fieldsOf(dst.Type())), ", ")) {
			d.object(v, dst)
		}
	case reflect.Slice:
		if d.want(v, isArray, r.remedy()) {
			d.array(v, dst, r)
		}
	case reflect.String:
		if d.want(v, isString, r.remedy()) {
			dst.SetString(v.text)
			d.checkString(v, r)
		}
	case reflect.Bool:
		if d.want(v, isBool, "write true or false") {
			dst.SetBool(v.raw[0] == 't')
		}
	case reflect.Int, reflect.Int64:
		if d.want(v, isNumber, r.remedy()) {
			d.integer(v, dst, r)
		}
	default:
		panic("manifests: no decoding for " + dst.Type().String()) // a new field type, found by every test
	}
}

// want reports whether v has the shape, and a fault when it has not.
func (d *decoder) want(v *value, want shape, fix string) bool {
	if v.shape == want {
		return true
	}
	if v.shape == isNull {
		fix = "leave the member out when there is nothing to say"
	}
	d.faults.add(v, fmt.Sprintf("must be %s, is %s", want, v.shape), fix)
	return false
}

// fieldsOf returns the fields of a struct type, whose tags are read once.
func (d *decoder) fieldsOf(t reflect.Type) []field {
	fields, ok := d.fields[t]
	if !ok {
		fields = structFields(t)
		if d.fields == nil {
			d.fields = make(map[reflect.Type][]field)
		}
		d.fields[t] = fields
	}
	return fields
}

func (d *decoder) object(v *value, dst reflect.Value) {
	fields := d.fieldsOf(dst.Type())
	for _, child := range v.children {
		known := false
		for i := range fields {
			if fields[i].name == child.key {
				d.fill(child, dst.Field(fields[i].index), fields[i].rule)
				known = true
				break
			}
		}
		if !known {
			d.faults.add(child, "is not known here", suggest(child.key, fields))
		}
	}
	for i := range fields {
		if f := &fields[i]; f.required && v.member(f.name) == nil {
			d.faults.missing(v, f.name, f.rule.remedy())
		}
	}
}

func (d *decoder) array(v *value, dst reflect.Value, r *rule) {
	n := int64(len(v.children))
	if n < r.min || n > r.max {
		d.faults.add(v, fmt.Sprintf("has %d items", n), fmt.Sprintf("give %d to %d", r.min, r.max))
		return
	}
	items := reflect.MakeSlice(dst.Type(), len(v.children), len(v.children))
	for i, child := range v.children {
		d.fill(child, items.Index(i), rules[r.items])
	}
	if n > 0 { // nil and empty mean the same: nil
		dst.Set(items)
	}
	if r.unique {
		d.distinct(v.children)
	}
}

// distinct reports scalars that repeat an earlier one.
func (d *decoder) distinct(list []*value) {
	seen := make(map[string]bool, len(list))
	for _, v := range list {
		key := string(v.raw)
		if v.shape == isString {
			key = "s" + v.text
		}
		if seen[key] {
			d.faults.add(v, "appears twice", "keep one")
		}
		seen[key] = true
	}
}

func (d *decoder) integer(v *value, dst reflect.Value, r *rule) {
	n, err := strconv.ParseInt(string(v.raw), 10, 64)
	if err != nil || n < r.min || n > r.max || dst.OverflowInt(n) {
		d.faults.add(v, clip(string(v.raw))+" is not "+r.noun, r.remedy())
		return
	}
	dst.SetInt(n)
}

// compact returns raw without white space, as a copy.
func compact(raw []byte) []byte {
	var b bytes.Buffer
	b.Grow(len(raw))
	if err := json.Compact(&b, raw); err != nil {
		return bytes.Clone(raw) // the tree is made of valid JSON
	}
	return b.Bytes()
}

// suggest names the known member closest to name, or all of them.
func suggest(name string, fields []field) string {
	known := names(fields)
	if best := spelling.Nearest(name, known, max(2, len(name)/3)); best != "" && len(name) > 2 {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "known members are " + strings.Join(known, ", ")
}

func names(fields []field) []string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = f.name
	}
	return list
}
