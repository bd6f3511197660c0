package store

import (
	"encoding/json"
	"time"

	"github.com/chelahost/chela/manifests"
)

// Defaults of Options.
const (
	DefaultLockTimeout  = 10 * time.Second
	DefaultPollInterval = time.Second
	DefaultMaxBlobBytes = 256 << 20
	DefaultKeep         = 50
)

// Options change how a store is opened. Nil and the zero value are the defaults.
type Options struct {
	// LockTimeout is how long a change waits for another process. 0 is DefaultLockTimeout.
	LockTimeout time.Duration
	// PollInterval is how often Watch looks at current. 0 is DefaultPollInterval.
	PollInterval time.Duration
	// MaxBlobBytes is the greatest size of a module or another part of a plugin. 0 is DefaultMaxBlobBytes.
	MaxBlobBytes int64
	// ReadOnly makes every change fail with ErrReadOnly, and Open fail when there is no store.
	ReadOnly bool
	// CheckConfig is asked about the whole configuration of a plugin before it is stored, and its error is passed on. Nil
	// accepts every configuration: this package knows no JSON Schema.
	CheckConfig func(m *manifests.Manifest, config map[string]json.RawMessage) error

	// fault is called before each call to the file system that changes something, with the name of the step; an error is
	// the result of the step, which is then not done. For tests.
	fault func(step string) error
}

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.LockTimeout <= 0 {
		c.LockTimeout = DefaultLockTimeout
	}
	if c.PollInterval <= 0 {
		c.PollInterval = DefaultPollInterval
	}
	if c.MaxBlobBytes <= 0 {
		c.MaxBlobBytes = DefaultMaxBlobBytes
	}
	return c
}
