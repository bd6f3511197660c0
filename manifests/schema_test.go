package manifests

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	invopop "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	packagePath = "github.com/chelahost/chela/manifests"
	schemaID    = "https://chelahost.github.io/schemas/manifest-v1.json"
)

// generate makes the published schema from the types, their comments and the rules.
func generate(t *testing.T) []byte {
	t.Helper()
	r := &invopop.Reflector{
		ExpandedStruct: true,
		Mapper: func(t reflect.Type) *invopop.Schema {
			switch t {
			case rawType:
				return &invopop.Schema{Ref: "http://json-schema.org/draft-07/schema#", Extras: map[string]any{}}
			case scopeType:
				return &invopop.Schema{Ref: "#/$defs/Scope"}
			}
			return nil
		},
	}
	if err := r.AddGoComments(packagePath, "."); err != nil {
		t.Fatal(err)
	}
	root := r.Reflect(&Manifest{})
	root.ID = schemaID
	root.Title = "Plugin manifest"
	bound(t, root, reflect.TypeFor[Manifest](), root.Definitions)
	for name, def := range scopeDefinitions() {
		root.Definitions[name] = def
	}
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// bound adds the rules of a struct's fields to its schema and to those below it.
func bound(t *testing.T, s *invopop.Schema, typ reflect.Type, definitions invopop.Definitions) {
	for i, f := range structFields(typ) {
		property, ok := s.Properties.Get(f.name)
		if !ok {
			t.Fatalf("%s: no property %q", typ, f.name)
		}
		ft := typ.Field(i).Type
		if ft == rawType {
			property.Ref = ""
			property.Type = ""
			property.Extras = map[string]any{"type": []string{"object", "boolean"}}
		}
		if property.Description == "" {
			t.Errorf("%s.%s has no comment", typ, typ.Field(i).Name)
		}
		restrict(property, f.rule)
		for ft.Kind() == reflect.Slice || ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		if ft.Kind() == reflect.Struct && ft != scopeType {
			bound(t, definitions[ft.Name()], ft, definitions)
		}
	}
}

// restrict adds a rule to the schema of a property.
func restrict(s *invopop.Schema, r *rule) {
	if r == nil {
		return
	}
	switch s.Type {
	case "string":
		if r.enum != nil {
			for _, e := range r.enum {
				s.Enum = append(s.Enum, e)
			}
			return
		}
		one, most := uint64(1), uint64(r.max)
		s.MinLength, s.MaxLength = &one, &most
		if r.pattern != nil {
			s.Pattern = r.pattern.String()
		}
	case "integer":
		s.Minimum = number(r.min)
		s.Maximum = number(r.max)
	case "array":
		least, most := uint64(r.min), uint64(r.max)
		s.MinItems, s.MaxItems, s.UniqueItems = &least, &most, r.unique
		restrict(s.Items, rules[r.items])
	}
}

func number(n int64) json.Number {
	text, _ := json.Marshal(n)
	return json.Number(text)
}

// scopeDefinitions describe scopes and templates, which are no structs.
func scopeDefinitions() map[string]*invopop.Schema {
	var defs map[string]*invopop.Schema
	err := json.Unmarshal([]byte(`{
	  "Scope": {
	    "description": "What the global holds: JSON values, arrays, objects, tools and references to the configuration.",
	    "type": "object", "minProperties": 1,
	    "propertyNames": {"$ref": "#/$defs/MemberName"},
	    "additionalProperties": {"$ref": "#/$defs/ScopeNode"}
	  },
	  "MemberName": {"pattern": "^[^$\\x00]", "not": {"enum": ["__proto__", "constructor", "prototype"]}, "maxLength": 256},
	  "ScopeNode": {"anyOf": [
	    {"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "null"},
	    {"type": "array", "items": {"$ref": "#/$defs/ScopeNode"}},
	    {"$ref": "#/$defs/ToolNode"},
	    {"$ref": "#/$defs/ConfigNode"},
	    {"type": "object", "propertyNames": {"$ref": "#/$defs/MemberName"}, "additionalProperties": {"$ref": "#/$defs/ScopeNode"}}
	  ]},
	  "ToolNode": {
	    "description": "A function that calls a tool. Without input the tool gets the first argument, or {}.",
	    "type": "object", "required": ["$tool"], "additionalProperties": false,
	    "properties": {
	      "$tool": {"type": "string", "minLength": 1, "description": "The name of one of requiredToolNames."},
	      "input": {"$ref": "#/$defs/Template", "description": "The input of the tool, made from the arguments."}
	    }
	  },
	  "ConfigNode": {
	    "description": "The value the plugin's configuration has under a key, or null.",
	    "type": "object", "required": ["$config"], "additionalProperties": false,
	    "properties": {"$config": {"type": "string", "minLength": 1}}
	  },
	  "Template": {"anyOf": [
	    {"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "null"},
	    {"type": "array", "items": {"$ref": "#/$defs/Template"}},
	    {"$ref": "#/$defs/ArgNode"},
	    {"type": "object", "propertyNames": {"pattern": "^([^$]|$)"}, "additionalProperties": {"$ref": "#/$defs/Template"}}
	  ]},
	  "ArgNode": {
	    "description": "The argument of that number, counted from 0.",
	    "type": "object", "required": ["$arg"], "additionalProperties": false,
	    "properties": {"$arg": {"type": "integer", "minimum": 0, "maximum": 15}}
	  }
	}`), &defs)
	if err != nil {
		panic(err)
	}
	defs["ArgNode"].Properties.Value("$arg").Maximum = number(MaxArgs - 1)
	return defs
}

func TestSchemaIsCurrent(t *testing.T) {
	want := generate(t)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile("schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Error("schema.json is not what the types say; run: UPDATE=1 go test ./manifests")
	}
	if !bytes.Equal(Schema(), have) {
		t.Error("Schema() is not schema.json")
	}
	Schema()[0] = 'x'
	if Schema()[0] == 'x' {
		t.Error("a caller can change the schema")
	}
}

// compiled returns the published schema ready to validate.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaID, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(schemaID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// accepted reports whether the published schema accepts a manifest.
func accepted(t *testing.T, s *jsonschema.Schema, manifest []byte) bool {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(manifest))
	return err == nil && s.Validate(doc) == nil
}

// TestRules finds a tag that names no rule, and a rule that no tag names.
func TestRules(t *testing.T) {
	used := make(map[string]bool)
	var visit func(typ reflect.Type)
	visit = func(typ reflect.Type) {
		for i := range typ.NumField() {
			f := typ.Field(i)
			if name := f.Tag.Get("rule"); name != "" {
				if rules[name] == nil {
					t.Errorf("%s.%s: no rule %q", typ, f.Name, name)
					continue
				}
				used[name] = true
				used[rules[name].items] = true
			}
			ft := f.Type
			for ft.Kind() == reflect.Slice || ft.Kind() == reflect.Pointer {
				ft = ft.Elem()
			}
			if ft.Kind() == reflect.Struct && ft != scopeType {
				visit(ft)
			}
			if kind := ft.Kind(); (kind == reflect.String || kind == reflect.Int || kind == reflect.Int64) && f.Tag.Get("rule") == "" {
				t.Errorf("%s.%s has no rule", typ, f.Name)
			}
		}
	}
	visit(reflect.TypeFor[Manifest]())
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		if !used[name] {
			t.Errorf("rule %q is not used", name)
		}
		if p := rules[name].pattern; p != nil && strings.Contains(p.String(), "(?") {
			t.Errorf("rule %q: %s is not a pattern of JSON Schema", name, p)
		}
	}
}
