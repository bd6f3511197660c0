package namespace

import (
	"reflect"
	"slices"
	"strings"
)

// structure writes a struct as an object. Fields have the names that encoding/json
// gives them, and those of embedded structs are in the place of these.
func (c *compiler) structure(v reflect.Value) {
	o := c.object()
	var apart [][]int // embedded structs whose fields are not to be promoted
	for _, f := range reflect.VisibleFields(v.Type()) {
		if slices.ContainsFunc(apart, func(outer []int) bool {
			return len(f.Index) > len(outer) && slices.Equal(f.Index[:len(outer)], outer)
		}) {
			continue
		}
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if embedsStruct(f) {
			if name == "" {
				continue // its fields follow
			}
			apart = append(apart, f.Index)
		}
		if tag == "-" || !f.IsExported() {
			continue
		}
		field, err := v.FieldByIndexErr(f.Index)
		if err != nil {
			continue // of an embedded pointer that is nil
		}
		if has(options, "omitempty") && empty(field) || has(options, "omitzero") && zero(field) {
			continue
		}
		if name == "" {
			name = f.Name
		}
		o.member(name, func() { c.value(field) })
	}
	o.end()
}

func embedsStruct(f reflect.StructField) bool {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return f.Anonymous && t.Kind() == reflect.Struct && !marshals(f.Type)
}

func has(options, option string) bool {
	return slices.Contains(strings.Split(options, ","), option)
}

// empty is what omitempty asks.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// zero is what omitzero asks: a type may have its own idea.
func zero(v reflect.Value) bool {
	if z, ok := v.Interface().(interface{ IsZero() bool }); ok && !(v.Kind() == reflect.Pointer && v.IsNil()) {
		return z.IsZero()
	}
	return v.IsZero()
}
