package store

import (
	"errors"
	"reflect"
	"slices"
)

// Rollback makes the draft equal to generation n, which must be kept: plugins, versions, grants and configuration. What
// plugins keep in their data directories stays as it is. It fails when a part of a plugin is not whole any more.
func (d *Draft) Rollback(n int) error {
	g, err := d.store.generation(n)
	if err != nil {
		return describe("rollback", err)
	}
	for _, p := range g.Plugins {
		if now, ok := d.Plugin(p.ID); ok && reflect.DeepEqual(now, p) {
			continue
		}
		if p.Quarantine != "" {
			continue // it is not used
		}
		if err := d.whole(p.ID, p.Active); err != nil {
			return describe("rollback", err)
		}
	}
	d.plugins = slices.Clone(g.Plugins)
	return nil
}

// RollbackPlugin gives one plugin back what it had in generation n: version, grants, configuration and whether it was enabled,
// in one step. With n 0 that is the newest generation in which it had another release, so doing it twice returns to where it
// began. An uninstalled plugin comes back this way.
func (d *Draft) RollbackPlugin(id string, n int) (Plugin, error) {
	p, err := d.rollbackPlugin(id, n)
	return p, describe("rollback", err)
}

func (d *Draft) rollbackPlugin(id string, n int) (Plugin, error) {
	if slices.Contains(d.purged, id) {
		return Plugin{}, fault(ErrInvalid, id, "its data is to be removed by the same change: roll it back in another")
	}
	var old Plugin
	if n != 0 {
		g, err := d.store.generation(n)
		if err != nil {
			return Plugin{}, err
		}
		var ok bool
		if old, ok = g.Plugin(id); !ok {
			return Plugin{}, fault(ErrNotFound, id, "it is not in generation %d", n)
		}
	} else {
		var err error
		if old, err = d.previous(id); err != nil {
			return Plugin{}, err
		}
	}
	if err := d.whole(id, old.Active); err != nil {
		return Plugin{}, err
	}
	old.Quarantine, old.Staged = "", nil
	d.place(old)
	return old, nil
}

// previous finds the plugin as it was before its release changed.
func (d *Draft) previous(id string) (Plugin, error) {
	now, installed := d.Plugin(id)
	numbers, err := d.store.numbers()
	if err != nil {
		return Plugin{}, err
	}
	for _, n := range slices.Backward(numbers) {
		g, err := d.base, error(nil)
		if n != g.Number {
			g, _, err = d.store.load(n)
		}
		if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrNotFound) {
			continue // doctor reports it; an older one will do
		}
		if err != nil {
			return Plugin{}, err
		}
		if p, ok := g.Plugin(id); ok && !(installed && p.Active.Same(now.Active)) {
			return p, nil
		}
	}
	return Plugin{}, fault(ErrNotFound, id, "no generation that is kept has another version of it")
}
