package host

// Unmetered makes a host whose guests cannot be stopped, to measure what it costs that others can.
func Unmetered(o *Options) *Options {
	o.unmetered = true
	return o
}
