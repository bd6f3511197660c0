package quickjs

import (
	"runtime"
	"slices"
)

const (
	// usualSpace is the address space an instance reserves, if its guest's limits do not need more: enough for the
	// default limits and for making images, so that most instances can be used for any guest.
	usualSpace = 256 << 20
)

// acquire gives an instance whose memory equals the image and may grow to memoryMax bytes.
func (e *Engine) acquire(img *Image, memoryMax uint64) (*instance, error) {
	in, err := e.takeIdle(img, memoryMax)
	if err != nil {
		return nil, err
	}
	if in == nil {
		if in, err = e.newInstance(max(memoryMax, usualSpace)); err != nil {
			e.forget()
			return nil, err
		}
	}
	in.mem.Limit(memoryMax) // before it grows: the last guest may have had less
	if in.image != img {
		ok := in.grow(uint64(len(img.heap)))
		switch {
		case ok && in.image == nil:
			in.mem.Fill(img.heap, initialMemory)
			in.image = img
		case ok:
			ok = in.restore(img)
		}
		if !ok {
			e.drop(in)
			return nil, ErrMemory
		}
	}
	return in, nil
}

// takeIdle picks the newest idle instance that holds the image, which is ready as it is, or else the oldest if there are
// as many as are kept. It answers nil, and counts an instance more, if one is to be made; rather than that it waits for
// an instance that is being reset, which takes a tenth of the time, once there is one for each processor and a spare.
func (e *Engine) takeIdle(img *Image, memoryMax uint64) (*instance, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		if e.closed {
			return nil, ErrClosed
		}
		pick := -1
		for i, in := range slices.Backward(e.idle) {
			if in.mem.Space() < memoryMax {
				continue
			}
			if in.image == img {
				pick = i
				break
			}
			if len(e.idle) == e.maxIdle {
				pick = i
			}
		}
		if pick >= 0 {
			in := e.idle[pick]
			e.idle = slices.Delete(e.idle, pick, pick+1)
			return in, nil
		}
		if e.resetting <= e.waiters || e.live <= runtime.GOMAXPROCS(0) {
			e.live++
			return nil, nil
		}
		e.waiters++
		e.reset.Wait()
		e.waiters--
	}
}

// release takes back an instance whose guest ended well. It is reset in the background, off the path of the cell that
// used it, and only then offered again.
func (e *Engine) release(in *instance) {
	in.guest = nil
	e.mu.Lock()
	keep := !e.closed && e.maxIdle > 0
	if keep {
		e.resetting++
	}
	e.mu.Unlock()
	if !keep {
		e.drop(in)
		return
	}
	go func() {
		e.keep(in, in.restore(in.image))
	}()
}

// keep takes an instance back from being reset, and offers it to the next start if that went well.
func (e *Engine) keep(in *instance, reset bool) {
	e.mu.Lock()
	e.resetting--
	out := in
	if reset {
		out = e.offerLocked(in)
	}
	e.reset.Broadcast()
	e.mu.Unlock()
	if out != nil {
		e.drop(out)
	}
}

// offer makes an instance that equals its image idle.
func (e *Engine) offer(in *instance) {
	e.mu.Lock()
	out := e.offerLocked(in)
	e.reset.Broadcast()
	e.mu.Unlock()
	if out != nil {
		e.drop(out)
	}
}

// offerLocked makes an instance idle, and gives the one that has to go for it: the oldest, or itself.
func (e *Engine) offerLocked(in *instance) *instance {
	if e.closed || e.maxIdle == 0 {
		return in
	}
	var out *instance
	if len(e.idle) >= e.maxIdle {
		out = e.idle[0]
		e.idle = slices.Delete(e.idle, 0, 1)
	}
	e.idle = append(e.idle, in)
	return out
}

// drop closes an instance for good.
func (e *Engine) drop(in *instance) {
	in.close()
	e.forget()
}

func (e *Engine) forget() {
	e.mu.Lock()
	e.live--
	e.mu.Unlock()
}
