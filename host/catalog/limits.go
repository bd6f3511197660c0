package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// Limits on what a host registers. NewEntry refuses what is larger.
const (
	MaxTools            = 10_000   // entries of one catalog
	MaxNameBytes        = 256      // a tool name, a source name or a label
	MaxDescriptionBytes = 64 << 10 // a description
	MaxSchemaBytes      = 256 << 10
	MaxSchemaDepth      = 64
	MaxSchemaValues     = 5_000 // JSON values in one schema
)

// Limits on values that are checked against a schema.
const (
	MaxValueDepth = 256
	MaxValues     = 500_000 // JSON values in one input or result
)

// Limits on one number in a schema or in a checked value. JavaScript cannot
// hold a number outside them, and exact arithmetic on one could take for ever.
const (
	maxNumberBytes    = 400
	maxNumberExponent = 400
)

// errJSON is a fault of the document itself, in contrast to a limit.
var errJSON = errors.New("is not valid JSON")

// shape bounds what decoding a document may cost.
type shape struct{ depth, values int }

// decode checks data against the bounds before anything is allocated for it,
// then decodes it with numbers kept as text, and returns the number of values
// in it. Errors never quote the document.
func (max shape) decode(data []byte) (doc any, values int, err error) {
	if values, err = max.scan(data); err != nil {
		return nil, 0, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return nil, 0, errJSON
	}
	return doc, values, nil
}

// scan walks over data once and counts the values in it. It relies on
// json.Valid for the grammar.
func (max shape) scan(data []byte) (values int, err error) {
	if !json.Valid(data) {
		return 0, errJSON
	}
	depth := 0
	for i := 0; i < len(data); {
		switch c := data[i]; {
		case c == '{' || c == '[':
			depth++
			values++
			if depth > max.depth {
				return 0, fmt.Errorf("is nested more than %d levels deep", max.depth)
			}
			i++
		case c == '}' || c == ']':
			depth--
			i++
		case c == '"':
			values++ // keys count as well: they cost as much
			i = skipString(data, i)
		case c == '-' || (c >= '0' && c <= '9'):
			values++
			end := skipNumber(data, i)
			if !numberFits(data[i:end]) {
				return 0, errors.New("holds a number out of range")
			}
			i = end
		case c == 't' || c == 'f' || c == 'n':
			values++
			for i++; i < len(data) && data[i] >= 'a' && data[i] <= 'z'; i++ {
			}
		default:
			i++
		}
		if values > max.values {
			return 0, fmt.Errorf("holds more than %d values", max.values)
		}
	}
	return values, nil
}

func skipString(data []byte, i int) int {
	for i++; data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func skipNumber(data []byte, i int) int {
	for i < len(data) {
		switch c := data[i]; {
		case c >= '0' && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
			i++
		default:
			return i
		}
	}
	return i
}

func numberFits(number []byte) bool {
	if len(number) > maxNumberBytes {
		return false
	}
	e := bytes.IndexAny(number, "eE")
	if e < 0 {
		return true
	}
	exponent, err := strconv.Atoi(string(number[e+1:]))
	return err == nil && exponent >= -maxNumberExponent && exponent <= maxNumberExponent
}
