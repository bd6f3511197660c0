package catalog

import "encoding/json"

type contract struct{ document any }

func (e *Entry) CheckContract() error { return nil }
func (e *Entry) CheckInput(input json.RawMessage) error { return nil }
func (e *Entry) CheckOutput(value json.RawMessage) error { return nil }
