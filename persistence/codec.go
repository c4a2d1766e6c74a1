package persistence

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// The versions of values. A new one is the new StoreFormat.
const (
	schemaVersion  = 1
	eventVersion   = 2 // of an event's value: its parts by length, then its data as they are
	tailVersion    = 3 // of a row's value: the length of its JSON, its JSON, and bytes as they are
	aboutVersion   = 4 // of an event's value: as eventVersion, with what it is about behind its first parts
	packedVersion  = 5 // of a row's value: what the record itself says is to be stored
	tracedVersion  = 6 // of an event's value: as aboutVersion, with its trace context behind that
	compressedFlag = 0x80
	compressAbove  = 8 << 10
	maxExpanded    = 256 << 20
	keepBale       = 512 << 10
)

var errBadValue = errors.New("a stored value cannot be read")

// codec turns nouns into values and back.
type codec struct {
	pack   *zstd.Encoder
	unpack *zstd.Decoder
	bales  *sync.Pool // of *bale
}

func newCodec() (codec, error) {
	pack, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return codec{}, fmt.Errorf("persistence: zstd: %w", err)
	}
	unpack, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxExpanded), zstd.WithDecoderLowmem(true))
	if err != nil {
		return codec{}, fmt.Errorf("persistence: zstd: %w", err)
	}
	return codec{pack: pack, unpack: unpack, bales: &sync.Pool{New: func() any { return new(bale) }}}, nil
}

// encode adds a value: the version, v as JSON, and where it has one its tail; or
// v packed, as it says itself.
func (c codec) encode(b []byte, v any) ([]byte, error) {
	start := len(b)
	if p, ok := v.(domain.Packed); ok {
		return c.shorter(p.AppendPacked(append(b, packedVersion)), start), nil
	}
	r, ok := v.(domain.HasRawPart)
	if !ok || len(r.RawPart()) == 0 {
		plain, err := domain.AppendRow(append(b, schemaVersion), v)
		if err != nil {
			return b, fmt.Errorf("persistence: encode: %w", err)
		}
		return c.shorter(plain, start), nil
	}
	const room = 4 // for the length of the JSON, always in as many bytes
	b = append(b, tailVersion, 0, 0, 0, 0)
	b, err := domain.AppendRow(b, v)
	if err != nil {
		return b, fmt.Errorf("persistence: encode: %w", err)
	}
	binary.BigEndian.PutUint32(b[start+1:], uint32(len(b)-start-1-room)) //nolint:gosec // a row's, far below its most
	return c.shorter(append(b, r.RawPart()...), start), nil
}

// shorter compresses the value that begins at start where it is long.
func (c codec) shorter(b []byte, start int) []byte {
	if len(b)-start <= compressAbove {
		return b
	}
	packed := c.pack.EncodeAll(b[start+1:], nil)
	b[start] |= compressedFlag
	return append(b[:start+1], packed...)
}

// unpacked is a value's version and its body.
func (c codec) unpacked(value []byte) (version byte, body []byte, err error) {
	if len(value) == 0 {
		return 0, nil, fmt.Errorf("%w: it is empty", errBadValue)
	}
	version = value[0] &^ compressedFlag
	if value[0]&compressedFlag == 0 {
		return version, value[1:], nil
	}
	if body, err = c.unpack.DecodeAll(value[1:], nil); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", errBadValue, err)
	}
	return version, body, nil
}

// highestVersion is the highest version of the values of a commit.
func highestVersion(puts []Put, events []Event) byte {
	highest := byte(0)
	for i := range puts {
		highest = max(highest, puts[i].Value[0]&^compressedFlag)
	}
	for i := range events {
		highest = max(highest, events[i].Payload[0]&^compressedFlag)
	}
	return highest
}

func unknown(have, know byte) error {
	return fmt.Errorf("%w: schema version %d, this program knows %d", ErrFormat, have, know)
}

// encodeEvent appends an event as the log keeps it. Subject, offset and sequence
// stand in the log.
func (c codec) encodeEvent(b []byte, e *event.Event) []byte {
	start := len(b)
	version := byte(eventVersion)
	switch {
	case e.TraceParent() != "":
		version = tracedVersion
	case e.About != nil:
		version = aboutVersion
	}
	b = append(b, version)
	for _, text := range [...]string{e.ID, string(e.Type), string(e.Environment), e.SvcID} {
		b = appendText(b, text)
	}
	if a := e.About; a != nil {
		for _, text := range [...]string{a.AgentID, a.CampaignID, string(a.Direction), a.From, a.To} {
			b = appendText(b, text)
		}
		if version == tracedVersion {
			b = appendText(b, a.TraceParent)
		}
	}
	b = binary.AppendVarint(b, e.CreatedAt.Unix())
	b = binary.AppendUvarint(b, uint64(e.CreatedAt.Nanosecond())) //nolint:gosec // never negative
	return c.shorter(append(b, e.Data...), start)
}

func appendText(b []byte, text string) []byte {
	b = binary.AppendUvarint(b, uint64(len(text)))
	return append(b, text...)
}

func (c codec) decodeEvent(value []byte) (e event.Event, err error) {
	version, body, err := c.unpacked(value)
	if err != nil {
		return e, err
	}
	var texts [10]string
	parts := 4
	switch version {
	case eventVersion:
	case aboutVersion:
		parts = len(texts) - 1
	case tracedVersion:
		parts = len(texts)
	default:
		return e, unknown(version, StoreFormat)
	}
	var ends [len(texts)][2]int // where each lies in the body
	begin := 0
	for i := range parts {
		n, size := binary.Uvarint(body[begin:])
		if size <= 0 || n > uint64(len(body)-begin-size) { //nolint:gosec // never negative
			return e, errBadValue
		}
		ends[i] = [2]int{begin + size, begin + size + int(n)} //nolint:gosec // within the body
		begin = ends[i][1]
	}
	all := string(body[:begin]) // one copy for all of them
	for i := range parts {
		texts[i] = all[ends[i][0]:ends[i][1]]
	}
	body = body[begin:]
	at, size := binary.Varint(body)
	if size <= 0 {
		return e, errBadValue
	}
	body = body[size:]
	nanos, size := binary.Uvarint(body)
	if size <= 0 || nanos >= uint64(time.Second) {
		return e, errBadValue
	}
	e.ID, e.Type, e.Environment, e.SvcID = texts[0], event.Type(texts[1]), domain.Environment(texts[2]), texts[3]
	if version != eventVersion {
		e.About = &event.About{AgentID: texts[4], CampaignID: texts[5], Direction: domain.Direction(texts[6]), From: texts[7], To: texts[8], TraceParent: texts[9]}
	}
	e.CreatedAt, e.Data = time.Unix(at, int64(nanos)).UTC(), body[size:]
	return e, nil
}

// decode fills what was stored under a key.
func (c codec) decode(k domain.Key, value []byte, into any) error {
	version, body, err := c.unpacked(value)
	if err != nil {
		return err
	}
	if p, ok := into.(domain.Packed); ok && version == packedVersion {
		if !p.TakePacked(k, body) {
			return errBadValue
		}
		return nil
	}
	var tail []byte
	r, hasRawPart := into.(domain.HasRawPart)
	switch {
	case version == tailVersion && hasRawPart:
		if body, tail, err = parted(body); err != nil {
			return err
		}
	case version != schemaVersion:
		return unknown(version, StoreFormat)
	}
	if err := domain.ReadRow(body, into); err != nil {
		return fmt.Errorf("%w: %w", errBadValue, err)
	}
	if len(tail) > 0 {
		r.SetRawPart(bytes.Clone(tail))
	}
	return nil
}

// parted is a body's JSON and its tail.
func parted(body []byte) (text, tail []byte, err error) {
	if len(body) < 4 {
		return nil, nil, errBadValue
	}
	size := binary.BigEndian.Uint32(body)
	if body = body[4:]; uint64(size) > uint64(len(body)) {
		return nil, nil, errBadValue
	}
	return body[:size], body[size:], nil
}

// bale is where the values of a commit are made, one behind the other, before
// they are copied at their length.
type bale struct {
	b    []byte
	ends []int // of the values
}

// done gives a bale back.
func (c codec) done(made *bale) {
	if cap(made.b) > keepBale {
		return
	}
	made.b, made.ends = made.b[:0], made.ends[:0]
	c.bales.Put(made)
}

// unpack is a copy of the values, to be taken out in order.
func (made *bale) unpack() values {
	return values{b: bytes.Clone(made.b), ends: made.ends}
}

type values struct {
	b    []byte
	ends []int
	at   int
}

func (v *values) next() []byte {
	end := v.ends[0]
	out := v.b[v.at:end:end]
	v.at, v.ends = end, v.ends[1:]
	return out
}
