package codemode

import (
	"bytes"
	"encoding/json"
	"strings"
)

// ExecArguments are the arguments of exec. Command is another name for Code, for hook policies that know shell tools.
type ExecArguments struct {
	Code        string
	Command     string
	Language    Language // "" = JavaScript
	RestartSafe bool
}

// WaitArguments are the arguments of wait.
type WaitArguments struct {
	RunID string
}

// ReadExecArguments reads what a model gave as the arguments of exec. Arguments that are not an object are read as an
// empty one (contract 0.2, 3.3). The error is a *Failure.
func ReadExecArguments(raw json.RawMessage) (ExecArguments, error) {
	m := record(raw)
	var a ExecArguments
	code, hasCode := text(m["code"])
	command, hasCommand := text(m["command"])
	if hasCode && hasCommand && code != command {
		return a, invalid("code and command must match when both are provided.")
	}
	if hasCommand {
		code = command
	}
	if strings.TrimSpace(code) == "" {
		return a, invalid("code or command must be a non-empty string.")
	}
	a.Code = code
	if v, ok := m["language"]; ok && !null(v) {
		l, _ := text(v)
		if a.Language = Language(l); a.Language != JavaScript && a.Language != TypeScript {
			return a, invalid("language must be javascript or typescript.")
		}
	}
	if v, ok := m["restartSafe"]; ok && !null(v) {
		if json.Unmarshal(v, &a.RestartSafe) != nil {
			return a, invalid("restartSafe must be a boolean.")
		}
	}
	return a, nil
}

// ReadWaitArguments reads what a model gave as the arguments of wait; run_id is another name for runId. The error is a
// *Failure.
func ReadWaitArguments(raw json.RawMessage) (WaitArguments, error) {
	m := record(raw)
	id, ok := text(m["runId"])
	if !ok {
		id, _ = text(m["run_id"])
	}
	if id = strings.TrimSpace(id); id == "" {
		return WaitArguments{}, invalid("runId must be a non-empty string.")
	}
	return WaitArguments{RunID: id}, nil
}

// source checks the arguments and gives the text to run.
func (a *ExecArguments) source() (string, error) {
	code := a.Code
	switch {
	case a.Code != "" && a.Command != "" && a.Code != a.Command:
		return "", invalid("code and command must match when both are provided.")
	case a.Command != "":
		code = a.Command
	}
	if strings.TrimSpace(code) == "" {
		return "", invalid("code or command must be a non-empty string.")
	}
	if a.Language != "" && a.Language != JavaScript && a.Language != TypeScript {
		return "", invalid("language must be javascript or typescript.")
	}
	return code, nil
}

func record(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

func text(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

func null(raw json.RawMessage) bool { return bytes.Equal(raw, []byte("null")) }
