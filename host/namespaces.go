package host

import "github.com/chelahost/chela/host/namespace"

// RegisterNamespace adds a code-mode namespace for a plugin, beside those in its manifest: runs that start from now on see
// it, if every tool it requires belongs to the plugin and is in their catalog. The plugin need not be loaded yet; when it
// is unloaded, the namespace goes with it. pluginID catalog.CoreName is the embedding program itself: its namespaces
// require tools that RegisterTool added. The error is ErrClosed or a *namespace.Error with a text of the contract, 6.1.
func (h *Host) RegisterNamespace(pluginID string, reg namespace.Registration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	return h.spaces.Register(pluginID, reg)
}

// UnregisterNamespace removes a namespace, whosever it is, and reports whether it was there. Runs that have begun keep it.
func (h *Host) UnregisterNamespace(id string) bool { return h.spaces.Unregister(id) }

// ClearNamespaces removes every namespace of a plugin, those of its manifest too, and says how many there were. Runs that
// have begun keep them.
func (h *Host) ClearNamespaces(pluginID string) int { return h.spaces.Clear(pluginID) }
