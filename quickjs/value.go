package quickjs

// A Value is a JSValue of one guest: 64 bits, NaN-boxed as QuickJS does it on 32-bit machines (quickjs.h,
// JS_NAN_BOXING): the tag in the upper half, a pointer, integer or boolean in the lower. It stays valid over Snapshot
// and Restore, since both keep addresses.
type Value uint64

// Tags of quickjs.h that the host looks at. Tags from tagFirst to -1 are reference counted; what is outside of tagFirst
// to tagFloat64 is the upper half of a float64.
const (
	tagFirst     = -9
	tagBigInt    = -9
	tagString    = -7
	tagRope      = -6
	tagInt       = 0
	tagBool      = 1
	tagNull      = 2
	tagUndefined = 3
	tagException = 6
	tagFloat64   = 8
)

// The JavaScript values undefined and null.
const (
	Undefined = Value(tagUndefined << 32)
	Null      = Value(tagNull << 32)
)

func (v Value) tag() int32        { return int32(v >> 32) }
func (v Value) isException() bool { return v.tag() == tagException }
func (v Value) isCounted() bool   { return v.tag() < 0 && v.tag() >= tagFirst }

// IsString reports whether v is a string.
func (v Value) IsString() bool { return v.tag() == tagString || v.tag() == tagRope }

// Bool reports whether v is the value true.
func (v Value) Bool() bool { return v == tagBool<<32|1 }

// A PromiseState is what a promise has come to.
type PromiseState int

// The numbers are those of quickjs.h, JSPromiseStateEnum.
const (
	NotAPromise PromiseState = iota - 1
	Pending
	Fulfilled
	Rejected
)
