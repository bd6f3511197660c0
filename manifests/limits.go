package manifests

// Limits are bounds on one call of the plugin. A zero field leaves the host's
// default; no field can raise a bound above the host's.
type Limits struct {
	// MemoryBytes bounds the module's memory, in bytes, rounded up to whole pages of 65536.
	MemoryBytes int64 `json:"memoryBytes,omitempty" rule:"memoryBytes"`
	// TimeoutMs bounds the duration of a call, in milliseconds.
	TimeoutMs int `json:"timeoutMs,omitempty" rule:"timeoutMs"`
	// InputBytes bounds the JSON input of a call, in bytes.
	InputBytes int64 `json:"inputBytes,omitempty" rule:"messageBytes"`
	// OutputBytes bounds the JSON result of a call, in bytes.
	OutputBytes int64 `json:"outputBytes,omitempty" rule:"messageBytes"`
	// LogBytes bounds what a call may log, in bytes.
	LogBytes int64 `json:"logBytes,omitempty" rule:"messageBytes"`
}

// Bounds on a manifest. [Parse] reports what exceeds them.
const (
	// MaxBytes is the greatest size of a manifest file.
	MaxBytes = 1 << 20
	// MaxDepth is how deep objects and arrays may nest in a manifest.
	MaxDepth = 64
	// MaxKeyBytes is the greatest length of a member name anywhere.
	MaxKeyBytes = 256
	// MaxFaults is how many faults an [Error] lists; one more says how many are left out.
	MaxFaults = 100
	// MaxTools is the greatest number of tools of one plugin.
	MaxTools = 256
	// MaxNamespaces is the greatest number of namespaces of one plugin.
	MaxNamespaces = 64
	// MaxCapabilities is the greatest number of entries in one list of capabilities.
	MaxCapabilities = 64
	// MaxNameLength is the greatest length of a name for people, in characters.
	MaxNameLength = 128
	// MaxTextLength is the greatest length of a description, in characters.
	MaxTextLength = 4096
	// MaxPromptLength is the greatest length of a namespace's prompt, in characters.
	MaxPromptLength = 8192
	// MaxReasonLength is the greatest length of a capability's reason, in characters.
	MaxReasonLength = 512
	// MaxSchemaBytes is the greatest size of one JSON Schema.
	MaxSchemaBytes = 64 << 10
	// MaxSchemaDepth is how deep one JSON Schema may nest.
	MaxSchemaDepth = 32
	// MaxSchemaValues is the greatest number of values in one JSON Schema. A
	// compiler takes more than linear time over a long anyOf.
	MaxSchemaValues = 4096
	// MaxPatternCost is the greatest size of all regular expressions in the
	// schemas of a manifest, after repetitions such as x{1000} are written out.
	MaxPatternCost = 100_000
	// MaxScopeDepth is how deep a scope may nest.
	MaxScopeDepth = 16
	// MaxScopeNodes is the greatest number of values in one scope.
	MaxScopeNodes = 4096
	// MaxArgs is how many arguments a template can refer to: $arg is below it.
	MaxArgs = 16
	// MaxInputBytes is the greatest input a template may expand to. A template
	// can repeat an argument, so the sum of the arguments is no bound.
	MaxInputBytes = 16 << 20
	// MaxTimeoutMs is the longest timeout a manifest may ask for.
	MaxTimeoutMs = 900_000
	// MaxMemoryBytes is the most memory a manifest may ask for.
	MaxMemoryBytes = 1 << 30
	// MaxMessageBytes is the greatest bound on input, output or log a manifest may ask for.
	MaxMessageBytes = 64 << 20
	// MaxQuotaBytes is the greatest key-value store a manifest may ask for.
	MaxQuotaBytes = 1 << 30
)
