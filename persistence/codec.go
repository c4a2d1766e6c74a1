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

// The schema versions of stored values, and limits of their encoding. A new version also raises StoreFormat.
const (
	schemaVersion   = 1
	eventVersion    = 2 // an event: texts with their lengths, then the event data unchanged
	tailVersion     = 3 // a row: the length of its JSON, the JSON, and raw bytes
	aboutVersion    = 4 // an event: as eventVersion, with its subject data after the first texts
	packedVersion   = 5 // a row: the packed form of the record (domain.PackedRecord)
	tracedVersion   = 6 // an event: as aboutVersion, with its trace context at the end
	compressedFlag  = 0x80
	compressAbove   = 8 << 10
	maxExpanded     = 256 << 20
	maxPooledBuffer = 512 << 10
)

var errBadValue = errors.New("a stored value cannot be read")

// codec encodes records and events as stored values, and decodes them.
type codec struct {
	compressor   *zstd.Encoder
	decompressor *zstd.Decoder
	buffers      *sync.Pool // of *valueBuffer
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
	return codec{compressor: pack, decompressor: unpack, buffers: &sync.Pool{New: func() any { return new(valueBuffer) }}}, nil
}

// encode appends the stored value of a record to b: the schema version, the record as JSON, and its raw bytes if it has
// any. A domain.PackedRecord is encoded in its packed form instead.
func (c codec) encode(b []byte, v any) ([]byte, error) {
	start := len(b)
	if p, ok := v.(domain.PackedRecord); ok {
		return c.compressIfLong(p.AppendPacked(append(b, packedVersion)), start), nil
	}
	r, ok := v.(domain.RawPartRecord)
	if !ok || len(r.RawPart()) == 0 {
		plain, err := domain.AppendRow(append(b, schemaVersion), v)
		if err != nil {
			return b, fmt.Errorf("persistence: encode: %w", err)
		}
		return c.compressIfLong(plain, start), nil
	}
	const room = 4 // for the length of the JSON, always four bytes
	b = append(b, tailVersion, 0, 0, 0, 0)
	b, err := domain.AppendRow(b, v)
	if err != nil {
		return b, fmt.Errorf("persistence: encode: %w", err)
	}
	binary.BigEndian.PutUint32(b[start+1:], uint32(len(b)-start-1-room)) //nolint:gosec // far below the maximum size of a row
	return c.compressIfLong(append(b, r.RawPart()...), start), nil
}

// compressIfLong compresses the value that begins at offset start of b if it is longer than compressAbove.
func (c codec) compressIfLong(b []byte, start int) []byte {
	if len(b)-start <= compressAbove {
		return b
	}
	packed := c.compressor.EncodeAll(b[start+1:], nil)
	b[start] |= compressedFlag
	return append(b[:start+1], packed...)
}

// decompress returns the schema version and the decompressed body of a stored value.
func (c codec) decompress(value []byte) (version byte, body []byte, err error) {
	if len(value) == 0 {
		return 0, nil, fmt.Errorf("%w: it is empty", errBadValue)
	}
	version = value[0] &^ compressedFlag
	if value[0]&compressedFlag == 0 {
		return version, value[1:], nil
	}
	if body, err = c.decompressor.DecodeAll(value[1:], nil); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", errBadValue, err)
	}
	return version, body, nil
}

// highestVersion returns the highest schema version among the values of a commit.
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

func unknownVersionError(have, know byte) error {
	return fmt.Errorf("%w: schema version %d, this program knows %d", ErrFormat, have, know)
}

// encodeEvent appends the stored value of an event to b. The value does not contain subject, offset and sequence,
// because the log stores them separately.
func (c codec) encodeEvent(b []byte, e *event.Event) []byte {
	start := len(b)
	version := byte(eventVersion)
	switch {
	case e.TraceParent() != "":
		version = tracedVersion
	case e.Attributes != nil:
		version = aboutVersion
	}
	b = append(b, version)
	for _, text := range [...]string{e.ID, string(e.Type), string(e.Environment), e.SvcID} {
		b = appendText(b, text)
	}
	if a := e.Attributes; a != nil {
		for _, text := range [...]string{a.AgentID, a.CampaignID, string(a.Direction), a.From, a.To} {
			b = appendText(b, text)
		}
		if version == tracedVersion {
			b = appendText(b, a.TraceParent)
		}
	}
	b = binary.AppendVarint(b, e.CreatedAt.Unix())
	b = binary.AppendUvarint(b, uint64(e.CreatedAt.Nanosecond())) //nolint:gosec // never negative
	return c.compressIfLong(append(b, e.Data...), start)
}

func appendText(b []byte, text string) []byte {
	b = binary.AppendUvarint(b, uint64(len(text)))
	return append(b, text...)
}

func (c codec) decodeEvent(value []byte) (e event.Event, err error) {
	version, body, err := c.decompress(value)
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
		return e, unknownVersionError(version, StoreFormat)
	}
	var ends [len(texts)][2]int // the position of each text in the body
	begin := 0
	for i := range parts {
		n, size := binary.Uvarint(body[begin:])
		if size <= 0 || n > uint64(len(body)-begin-size) { //nolint:gosec // never negative
			return e, errBadValue
		}
		ends[i] = [2]int{begin + size, begin + size + int(n)} //nolint:gosec // within the body
		begin = ends[i][1]
	}
	all := string(body[:begin]) // one copy for all texts
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
		e.Attributes = &event.Attributes{AgentID: texts[4], CampaignID: texts[5], Direction: domain.Direction(texts[6]), From: texts[7], To: texts[8], TraceParent: texts[9]}
	}
	e.CreatedAt, e.Data = time.Unix(at, int64(nanos)).UTC(), body[size:]
	return e, nil
}

// decode decodes the value that is stored under key k into a record.
func (c codec) decode(k domain.Key, value []byte, into any) error {
	version, body, err := c.decompress(value)
	if err != nil {
		return err
	}
	if p, ok := into.(domain.PackedRecord); ok && version == packedVersion {
		if !p.ReadPacked(k, body) {
			return errBadValue
		}
		return nil
	}
	var tail []byte
	r, hasRawPart := into.(domain.RawPartRecord)
	switch {
	case version == tailVersion && hasRawPart:
		if body, tail, err = splitTail(body); err != nil {
			return err
		}
	case version != schemaVersion:
		return unknownVersionError(version, StoreFormat)
	}
	if err := domain.ReadRow(body, into); err != nil {
		return fmt.Errorf("%w: %w", errBadValue, err)
	}
	if len(tail) > 0 {
		r.SetRawPart(bytes.Clone(tail))
	}
	return nil
}

// splitTail splits the body of a tailVersion value into its JSON and its raw bytes.
func splitTail(body []byte) (text, tail []byte, err error) {
	if len(body) < 4 {
		return nil, nil, errBadValue
	}
	size := binary.BigEndian.Uint32(body)
	if body = body[4:]; uint64(size) > uint64(len(body)) {
		return nil, nil, errBadValue
	}
	return body[:size], body[size:], nil
}

// valueBuffer collects the encoded values of one commit. They are then copied into a slice of exactly their size, so
// that the codec can reuse the buffer.
type valueBuffer struct {
	bytes []byte
	ends  []int // the end of each value in bytes
}

// releaseBuffer returns a buffer to the pool for reuse, unless it has grown too large.
func (c codec) releaseBuffer(buffer *valueBuffer) {
	if cap(buffer.bytes) > maxPooledBuffer {
		return
	}
	buffer.bytes, buffer.ends = buffer.bytes[:0], buffer.ends[:0]
	c.buffers.Put(buffer)
}

// split returns copies of the collected values in the order in which they were added.
func (buffer *valueBuffer) split() values {
	return values{b: bytes.Clone(buffer.bytes), ends: buffer.ends}
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
