package manifests

// Capabilities are what a plugin asks for. Nothing is granted by asking: an
// operator says yes, for one digest of the module.
type Capabilities struct {
	// Network lists the hosts the plugin talks to.
	Network []Network `json:"network,omitempty" rule:"capabilities"`
	// Filesystem lists the directories the plugin uses.
	Filesystem []Filesystem `json:"filesystem,omitempty" rule:"capabilities"`
	// Env lists the environment variables the plugin reads.
	Env []Env `json:"env,omitempty" rule:"capabilities"`
	// Secrets lists the secrets the host adds to the plugin's requests.
	Secrets []Secret `json:"secrets,omitempty" rule:"capabilities"`
	// KV asks for a key-value store of the plugin's own.
	KV *KV `json:"kv,omitempty"`
}

// Network asks for requests to one host or to the hosts below one domain.
type Network struct {
	// Host is a host name, an IP address, *. and a domain for every host below it, or * for every host.
	Host string `json:"host" rule:"host"`
	// Ports are the ports to connect to. The default is 443 alone.
	Ports []int `json:"ports,omitempty" rule:"ports"`
	// Methods are the HTTP methods to use. The default is every method.
	Methods []string `json:"methods,omitempty" rule:"methods"`
	// Paths are prefixes of the paths to request, matched by whole segments. The default is every path.
	Paths []string `json:"paths,omitempty" rule:"paths"`
	// Reason tells the operator why it is needed.
	Reason string `json:"reason" rule:"reason"`
}

// Values of [Filesystem.Access].
const (
	AccessRead  = "read"
	AccessWrite = "write"
)

// Filesystem asks for a directory of the host.
type Filesystem struct {
	// Path is where the plugin sees the directory: absolute, with forward slashes.
	Path string `json:"path" rule:"guestPath"`
	// Access is read, or write for reading and writing.
	Access string `json:"access" rule:"access"`
	// Reason tells the operator why it is needed.
	Reason string `json:"reason" rule:"reason"`
}

// Env asks for the value of one environment variable.
type Env struct {
	// Name is the name of the variable.
	Name string `json:"name" rule:"envName"`
	// Reason tells the operator why it is needed.
	Reason string `json:"reason" rule:"reason"`
}

// Secret asks the host to add a secret to requests. The plugin never reads it.
type Secret struct {
	// Name is what the operator stores the secret under.
	Name string `json:"name" rule:"secretName"`
	// Hosts are the hosts that receive the secret, in the forms of Network.host. The network capability must cover each.
	Hosts []string `json:"hosts" rule:"hosts"`
	// Header is the HTTP header that carries the secret. Either header or query is set.
	Header string `json:"header,omitempty" rule:"header"`
	// Query is the query parameter that carries the secret. Either header or query is set.
	Query string `json:"query,omitempty" rule:"query"`
	// Prefix is put before the secret in the header, such as "Bearer ".
	Prefix string `json:"prefix,omitempty" rule:"prefix"`
	// Reason tells the operator why it is needed.
	Reason string `json:"reason" rule:"reason"`
}

// KV asks for a key-value store that survives calls, restarts and upgrades.
type KV struct {
	// QuotaBytes is the greatest total size of keys and values, in bytes.
	QuotaBytes int64 `json:"quotaBytes" rule:"quotaBytes"`
	// Reason tells the operator why it is needed.
	Reason string `json:"reason" rule:"reason"`
}
