package surface

import (
	"encoding/json"
	"fmt"
)

// Shape is the form of a provider's requests.
type Shape string

// The shapes.
const (
	Anthropic       Shape = "anthropic"        // Messages
	OpenAIResponses Shape = "openai-responses" // Responses, of OpenAI and of Azure
	OpenAIChat      Shape = "openai-chat"      // Chat Completions, and what imitates it
	Gemini          Shape = "gemini"           // generateContent
)

// Shapes lists them all.
func Shapes() []Shape { return []Shape{Anthropic, OpenAIResponses, OpenAIChat, Gemini} }

// Render gives the value of a request's "tools" for some definitions, in their order. It fails for an unknown shape, and
// for what no provider takes: names other than [A-Za-z_][A-Za-z0-9_-]{0,63}, the same name twice, a schema that is not
// an object's.
func Render(shape Shape, tools []Definition) (json.RawMessage, error) {
	entry, ok := map[Shape]func(Definition) any{
		Anthropic: func(d Definition) any {
			return struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				InputSchema json.RawMessage `json:"input_schema"`
			}{d.Name, d.Description, d.InputSchema}
		},
		OpenAIResponses: func(d Definition) any {
			// Left out, strict is true here: every parameter would become a required one.
			// https://platform.openai.com/docs/guides/function-calling (strict mode)
			return struct {
				Type        string          `json:"type"`
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
				Strict      bool            `json:"strict"`
			}{"function", d.Name, d.Description, d.InputSchema, false}
		},
		OpenAIChat: func(d Definition) any {
			type function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			}
			return struct {
				Type     string   `json:"type"`
				Function function `json:"function"`
			}{"function", function{d.Name, d.Description, d.InputSchema}}
		},
		Gemini: func(d Definition) any {
			return struct {
				Name        string      `json:"name"`
				Description string      `json:"description"`
				Parameters  *geminiNode `json:"parameters,omitempty"`
			}{d.Name, d.Description, geminiParameters(d.InputSchema)}
		},
	}[shape]
	if !ok {
		return nil, unknownShape(shape)
	}
	seen := map[string]bool{}
	list := make([]json.RawMessage, 0, len(tools))
	for _, d := range tools {
		if !providerName.MatchString(d.Name) {
			return nil, fmt.Errorf("surface: the tool name %.64q is not one that providers take: use up to 64 letters, digits, _ and -, and begin with a letter", d.Name)
		}
		if seen[d.Name] {
			return nil, fmt.Errorf("surface: two tools are called %q: leave one of them out, or let it be cataloged", d.Name)
		}
		seen[d.Name] = true
		var err error
		if d.InputSchema, err = objectSchema(d.InputSchema); err != nil {
			return nil, fmt.Errorf("surface: the tool %q: %w", d.Name, err)
		}
		list = append(list, schema(entry(d)))
	}
	if shape != Gemini || len(list) == 0 {
		return joinArray(list), nil
	}
	group := join([]member{{"functionDeclarations", joinArray(list)}})
	return joinArray([]json.RawMessage{group}), nil
}

func unknownShape(s Shape) error {
	return fmt.Errorf("surface: the shape %.64q of a request is unknown: use one of %q", string(s), Shapes())
}
