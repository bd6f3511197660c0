package namespace

import (
	"encoding"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
)

var (
	toolType          = reflect.TypeFor[tool]()
	orderedType       = reflect.TypeFor[Object]()
	marshalerType     = reflect.TypeFor[json.Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
)

// serialize makes a scope of what a CreateFunc returned. The message is empty, or
// says what is wrong with it in the words of section 6.4.
func serialize(id string, root any, required []string) (s *scope, message string) {
	c := newCompiler(required)
	v := reflect.ValueOf(root)
	if !isObject(v) {
		return nil, notAnObject(id)
	}
	c.value(v)
	c.size()
	if c.message == "" && !hasPrefix(c.text.Bytes(), emptyScope[:len(`{"kind":"object"`)]) {
		return nil, notAnObject(id) // a json.Marshaler that says so
	}
	return c.end()
}

func hasPrefix(b, prefix []byte) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == string(prefix)
}

// isObject reports whether v may become an object. It is looked at first, so that
// what is none is refused as such and not for something in it.
func isObject(v reflect.Value) bool {
	for range MaxScopeDepth {
		if !v.IsValid() {
			return false
		}
		if v.Type() == toolType {
			return false
		}
		if v.Type() == orderedType || marshals(v.Type()) {
			return true
		}
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			v = v.Elem()
		default:
			return v.Kind() == reflect.Map || v.Kind() == reflect.Struct
		}
	}
	return false
}

func marshals(t reflect.Type) bool {
	return t.Implements(marshalerType) || t.Implements(textMarshalerType)
}

// reference identifies what can contain itself. A pointer to a struct and one to
// its first field are told apart by type, slices of one array by length.
type reference struct {
	pointer uintptr
	length  int
	typ     reflect.Type
}

// value writes a Go value.
func (c *compiler) value(v reflect.Value) {
	for v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	var ref any
	if v.IsValid() {
		switch v.Kind() {
		case reflect.Pointer, reflect.Map:
			if !v.IsNil() {
				ref = reference{v.Pointer(), 0, v.Type()}
			}
		case reflect.Slice:
			if v.Len() > 0 {
				ref = reference{v.Pointer(), v.Len(), v.Type()}
			}
		}
	}
	if c.size(); !c.enter(ref) {
		return
	}
	if ref != nil {
		defer c.leave(ref)
	}
	if !v.IsValid() {
		c.null()
		return
	}
	switch t := v.Type(); {
	case t == toolType:
		m := v.Interface().(tool)
		c.tool(m.name, callable{mapper: m.input})
	case t == orderedType:
		o := c.object()
		for _, m := range v.Interface().(Object) {
			o.member(m.Key, func() { c.value(reflect.ValueOf(m.Value)) })
		}
		o.end()
	case marshals(t):
		c.marshal(v)
	case v.CanAddr() && marshals(reflect.PointerTo(t)):
		c.marshal(v.Addr())
	default:
		c.kind(v)
	}
}

// kind writes a value of which nothing but its kind is known.
func (c *compiler) kind(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			c.null()
			return
		}
		// The pointer and what it points to are one value.
		c.left++
		c.value(v.Elem())
	case reflect.Map:
		c.mapping(v)
	case reflect.Struct:
		c.structure(v)
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			if v.IsNil() {
				v = reflect.ValueOf([]byte{})
			}
			c.marshal(v)
			return
		}
		a := c.array()
		for i := range v.Len() {
			a.item(func() { c.value(v.Index(i)) })
		}
		a.end()
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			c.null()
			return
		}
		c.marshal(v)
	case reflect.Func:
		if v.IsNil() {
			c.null()
			return
		}
		c.fail("Code mode namespace function at " + place(c.path) + " must be created with createCodeModeNamespaceTool.")
	default:
		c.marshal(v)
	}
}

// size holds the scope to its limit.
func (c *compiler) size() {
	if c.text.Len() > MaxScopeBytes {
		c.fail("Code mode namespace scope is larger than " + strconv.Itoa(MaxScopeBytes) + " bytes.")
	}
}

func (c *compiler) null() { c.text.Write(appendValue(nil, json.RawMessage("null"))) }

// marshal writes what encoding/json makes of a value.
func (c *compiler) marshal(v reflect.Value) {
	raw, ok := v.Interface().(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(v.Interface()); err != nil {
			c.fail("Code mode namespace value at " + place(c.path) + " cannot be written as JSON: " + clip(err.Error()) + ".")
			return
		}
	}
	text, message := appendJSON(nil, raw, "value at "+place(c.path), len(c.path))
	if message != "" {
		c.fail(message)
	}
	c.text.Write(text)
}

func (c *compiler) mapping(v reflect.Value) {
	if v.Type().Key().Kind() != reflect.String {
		c.fail("Code mode namespace value at " + place(c.path) + " is a " + v.Type().String() + ": only maps with string keys are objects.")
		return
	}
	members := make(map[string]reflect.Value, v.Len())
	for i := v.MapRange(); i.Next(); {
		members[i.Key().String()] = i.Value()
	}
	o := c.object()
	for _, key := range slices.Sorted(maps.Keys(members)) {
		o.member(key, func() { c.value(members[key]) })
	}
	o.end()
}
