package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/plugin"
	"github.com/chelahost/chela/manifests"
)

// closeTime is how long the end of the process waits for calls that were told to stop.
const closeTime = 2 * time.Second

// open makes a host with the plugins in dirs. A plugin that cannot be loaded is reported and left out; if none can, that
// is the error. Close the host with app.close.
func (a *app) open(ctx context.Context, opts host.Options, dirs []string, grants []plugin.Directory) (_ *host.Host, err error) {
	wishes := make([]wish, len(dirs))
	if len(grants) > 0 { // else nobody needs to know before the plugins are loaded
		for i, dir := range dirs {
			wishes[i] = readWish(dir)
		}
	}
	if err := checkGrants(grants, wishes); err != nil {
		return nil, err
	}
	if opts.Logger, err = a.logger(); err != nil {
		return nil, err
	}
	h, err := host.Open(ctx, &opts)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			a.close(ctx, h)
		}
	}()
	loaded := 0
	for i, dir := range dirs {
		got := wishes[i].granted(grants)
		p, err := h.LoadPlugin(ctx, dir, &host.PluginOptions{Directories: got})
		if ctx.Err() != nil {
			return nil, errors.New("interrupted while plugins were loaded")
		}
		if err != nil {
			fmt.Fprintf(a.err, "chela: skipped %s: %s\n", dir, legible(err.Error()))
			continue
		}
		loaded++
		if a.hints && len(got) == 0 {
			a.hint(p.Manifest())
		}
	}
	if len(dirs) > 0 && loaded == 0 {
		return nil, errors.New("no plugin could be loaded")
	}
	return h, nil
}

// hint says what a plugin has to do without. One that got a directory can do its work.
func (a *app) hint(m *manifests.Manifest) {
	for _, f := range m.Capabilities.Filesystem {
		fmt.Fprintf(a.err, "chela: hint: plugin %s asks to read a directory as %s and gets none; --grant-dir %s=DIR grants it (%s)\n",
			m.ID, legible(f.Path), legible(f.Path), legible(f.Reason))
	}
}

// close ends what may still be running.
func (a *app) close(ctx context.Context, h *host.Host) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if err := h.Close(ctx); err != nil {
		if log, e := a.logger(); e == nil {
			log.Warn("not everything could be closed", slog.Any("error", err))
		}
	}
}
