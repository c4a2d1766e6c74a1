package persistence

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

const (
	schemaVersion  = 1
	eventVersion   = 2 // of an event's value: its parts by length, then its data as they are
	compressedFlag = 0x80
	compressAbove  = 2 << 10
	maxExpanded    = 256 << 20
)

var errBadValue = errors.New("a stored value cannot be read")

// codec turns nouns into values and back.
type codec struct {
	pack   *zstd.Encoder
	unpack *zstd.Decoder
}

func newCodec() (codec, error) {
	pack, err := zstd.NewWriter(nil,
		zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return codec{}, fmt.Errorf("persistence: zstd: %w", err)
	}
	unpack, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxExpanded), zstd.WithDecoderLowmem(true))
	if err != nil {
		return codec{}, fmt.Errorf("persistence: zstd: %w", err)
	}
	return codec{pack: pack, unpack: unpack}, nil
}

func (c codec) encode(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("persistence: encode: %w", err)
	}
	return c.packed(schemaVersion, body), nil
}

func (c codec) packed(version byte, body []byte) []byte {
	if len(body) > compressAbove {
		return c.pack.EncodeAll(body, []byte{version | compressedFlag})
	}
	return append([]byte{version}, body...)
}

// unpacked is the body of a value of a version.
func (c codec) unpacked(version byte, value []byte) ([]byte, error) {
	if len(value) == 0 {
		return nil, fmt.Errorf("%w: it is empty", errBadValue)
	}
	if v := value[0] &^ compressedFlag; v != version {
		return nil, fmt.Errorf("%w: schema version %d, this program knows %d", ErrFormat, v, version)
	}
	if value[0]&compressedFlag == 0 {
		return value[1:], nil
	}
	body, err := c.unpack.DecodeAll(value[1:], nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBadValue, err)
	}
	return body, nil
}

// encodeEvent is an event at rest; subject, offset and sequence stand in the
// log. The data are JSON already and are neither parsed nor checked again.
func (c codec) encodeEvent(e *event.Event) []byte {
	body := make([]byte, 0, 128+len(e.Data))
	for _, text := range []string{e.ID, string(e.Type), string(e.Environment), e.SvcID} {
		body = binary.AppendUvarint(body, uint64(len(text)))
		body = append(body, text...)
	}
	body = binary.AppendVarint(body, e.CreatedAt.Unix())
	body = binary.AppendUvarint(body, uint64(e.CreatedAt.Nanosecond())) //nolint:gosec // never negative
	return c.packed(eventVersion, append(body, e.Data...))
}

func (c codec) decodeEvent(value []byte) (e event.Event, err error) {
	body, err := c.unpacked(eventVersion, value)
	if err != nil {
		return e, err
	}
	var texts [4]string
	for i := range texts {
		n, size := binary.Uvarint(body)
		if size <= 0 || n > uint64(len(body)-size) {
			return e, errBadValue
		}
		texts[i], body = string(body[size:size+int(n)]), body[size+int(n):] //nolint:gosec // within the body
	}
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
	e.CreatedAt, e.Data = time.Unix(at, int64(nanos)).UTC(), body[size:] //nolint:gosec // below a second
	return e, nil
}

func (c codec) decode(value []byte, into any) error {
	body, err := c.unpacked(schemaVersion, value)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%w: %w", errBadValue, err)
	}
	return nil
}
