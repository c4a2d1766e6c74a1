package srtp

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// ErrUnsupported says that an a=crypto line is unreadable or names unsupported parameters. The error never quotes
// the line, because the line contains a key.
var ErrUnsupported = errors.New("srtp: unsupported a=crypto")

// Attribute is the content of an a=crypto line in SDP.
type Attribute struct {
	Tag      int    // identifies the line in the answer
	Key      Key    // key with which the author of the line encrypts
	Lifetime uint64 // maximum of packets for this key; 0: not given
}

const (
	tagMost      = 999999999 // RFC 4568 §9.1
	attributeLen = 512       // bytes; the longest supported line has about 120
	lifetimeMost = 48        // bits, RFC 3711
)

// NewKey returns a random key.
func NewKey(s Suite) Key {
	k := Key{Suite: s}
	_, _ = rand.Read(k.bytes[:kinds[s].key+kinds[s].salt]) // never fails
	return k
}

// ParseAttribute parses "1 AES_CM_128_HMAC_SHA1_80 inline:…|2^31" (RFC 4568 §9.1). It refuses several keys, master key
// identifiers, and session parameters that change what is encrypted or authenticated.
func ParseAttribute(line string) (Attribute, error) {
	if len(line) > attributeLen {
		return Attribute{}, fmt.Errorf("%w: too long", ErrUnsupported)
	}
	f := strings.Fields(line)
	if len(f) < 3 {
		return Attribute{}, fmt.Errorf("%w: incomplete", ErrUnsupported)
	}
	tag, err := strconv.ParseUint(f[0], 10, 31)
	if err != nil || tag > tagMost {
		return Attribute{}, fmt.Errorf("%w: tag", ErrUnsupported)
	}
	a := Attribute{Tag: int(tag)}
	if a.Key.Suite = suite(f[1]); a.Key.Suite == None {
		return Attribute{}, fmt.Errorf("%w: suite", ErrUnsupported)
	}
	if err = a.inline(f[2]); err != nil {
		return Attribute{}, err
	}
	for _, p := range f[3:] {
		if name, _, _ := strings.Cut(strings.ToUpper(p), "="); name != "WSH" && !strings.HasPrefix(name, "-") {
			return Attribute{}, fmt.Errorf("%w: parameter", ErrUnsupported)
		}
	}
	return a, nil
}

// suite returns the crypto suite with this name, or None if it is unsupported.
func suite(name string) Suite {
	name = strings.ToUpper(name)
	if rest, ok := strings.CutPrefix(name, "AES_CM_256_"); ok {
		name = "AES_256_CM_" + rest
	}
	for s := AESCM128SHA80; int(s) < len(kinds); s++ {
		if kinds[s].name == name {
			return s
		}
	}
	return None
}

// inline parses the key parameter "inline:<key and salt>[|lifetime]" into a.
func (a *Attribute) inline(text string) error {
	const method = "inline:"
	if len(text) < len(method) || !strings.EqualFold(text[:len(method)], method) || strings.Contains(text, ";") {
		return fmt.Errorf("%w: key method", ErrUnsupported)
	}
	part := strings.Split(text[len(method):], "|")
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(part[0], "="))
	k := kinds[a.Key.Suite]
	if err != nil || len(raw) != k.key+k.salt {
		return fmt.Errorf("%w: key", ErrUnsupported) // the decoder's error would quote the key
	}
	copy(a.Key.bytes[:], raw)
	for _, p := range part[1:] {
		if strings.Contains(p, ":") {
			return fmt.Errorf("%w: master key identifier", ErrUnsupported)
		}
		if a.Lifetime != 0 {
			return fmt.Errorf("%w: two lifetimes", ErrUnsupported)
		}
		if a.Lifetime, err = lifetime(p); err != nil {
			return err
		}
	}
	return nil
}

// lifetime parses a key lifetime in packets, such as "2^20" or "1048576".
func lifetime(text string) (uint64, error) {
	if power, ok := strings.CutPrefix(text, "2^"); ok {
		if n, err := strconv.ParseUint(power, 10, 8); err == nil && n <= lifetimeMost {
			return 1 << n, nil
		}
	} else if n, err := strconv.ParseUint(text, 10, 64); err == nil && n > 0 && bits.Len64(n) <= lifetimeMost+1 {
		return n, nil
	}
	return 0, fmt.Errorf("%w: lifetime", ErrUnsupported)
}

// Line returns the value of the a=crypto line. It contains the key and must appear in SDP only.
func (a Attribute) Line() string {
	k := kinds[a.Key.Suite]
	return fmt.Sprintf("%d %s inline:%s", a.Tag, k.name, base64.StdEncoding.EncodeToString(a.Key.bytes[:k.key+k.salt]))
}

// String returns tag and suite without the key.
func (a Attribute) String() string { return fmt.Sprintf("%d %s", a.Tag, a.Key.Suite) }

// GoString returns tag and suite without the key.
func (a Attribute) GoString() string { return a.String() }
