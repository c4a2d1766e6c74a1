// Package wav reads and writes WAV files: 8 kHz G.711 or PCM for recordings, and 16-bit PCM of any rate for
// prompts.
package wav

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/callboard/callboard/media/g711"
)

// The WAV format tags that Decode accepts.
const (
	tagPCM        = 1
	tagALaw       = 6
	tagMuLaw      = 7
	tagExtensible = 0xFFFE
)

// HeaderLen is the length in bytes of the header that Header returns.
const HeaderLen = 58

// Unknown is the data length in the header of an unfinished file. Players then read to the end of the file.
const Unknown = 0xFFFFFFFF

// Errors of reading a WAV file.
var (
	ErrFormat   = errors.New("wav: unsupported or unreadable WAV file")
	ErrTooLarge = errors.New("wav: too large")
)

// Format is the encoding of audio samples.
type Format uint8

// The sample formats of files that this package writes, at 8 kHz.
const (
	MuLaw Format = iota // ITU-T G.711, one byte per sample
	PCM16               // linear, little-endian, two bytes per sample
)

// Bytes returns the length of a sample in bytes.
func (f Format) Bytes() int {
	if f == PCM16 {
		return 2
	}
	return 1
}

func (f Format) tag() uint16 {
	if f == PCM16 {
		return tagPCM
	}
	return tagMuLaw
}

// Sound is the decoded audio of a WAV file.
type Sound struct {
	Rate, Channels int
	Samples        []int16 // interleaved
}

// Duration returns the playing time.
func (s *Sound) Duration() time.Duration {
	return time.Duration(len(s.Samples)/s.Channels) * time.Second / time.Duration(s.Rate)
}

// Channel returns a copy of one channel.
func (s *Sound) Channel(n int) []int16 {
	out := make([]int16, 0, len(s.Samples)/s.Channels)
	for i := n; i < len(s.Samples); i += s.Channels {
		out = append(out, s.Samples[i])
	}
	return out
}

// Mu mixes the channels to mono, resamples to 8 kHz and encodes as µ-law.
func (s *Sound) Mu() ([]byte, error) {
	mono := make([]int16, len(s.Samples)/s.Channels)
	for i := range mono {
		sum := 0
		for c := range s.Channels {
			sum += int(s.Samples[i*s.Channels+c])
		}
		mono[i] = int16(sum / s.Channels) //nolint:gosec // the mean of int16s
	}
	mono, err := Resample(mono, s.Rate, 8000)
	if err != nil {
		return nil, err
	}
	return g711.EncodeMu(mono), nil
}

// Header returns the WAV header of an 8 kHz µ-law file. dataLen is the number of audio bytes, or Unknown.
func Header(channels int, dataLen uint32) []byte { return MuLaw.Header(channels, dataLen) }

// Header returns the WAV header of an 8 kHz file in this format. dataLen is the number of audio bytes, or Unknown.
func (f Format) Header(channels int, dataLen uint32) []byte {
	h := make([]byte, 0, HeaderLen)
	width := channels * f.Bytes()
	riff, frames := uint32(Unknown), uint32(Unknown)
	if dataLen != Unknown {
		riff, frames = HeaderLen-8+dataLen+dataLen%2, dataLen/uint32(width) //nolint:gosec // at most four
	}
	le := binary.LittleEndian
	h = le.AppendUint32(append(h, "RIFF"...), riff)
	h = le.AppendUint32(append(h, "WAVEfmt "...), 18)
	h = le.AppendUint16(h, f.tag())
	h = le.AppendUint16(h, uint16(channels))    //nolint:gosec // one or two
	h = le.AppendUint32(h, 8000)                // frames per second
	h = le.AppendUint32(h, uint32(8000*width))  //nolint:gosec // bytes per second
	h = le.AppendUint16(h, uint16(width))       //nolint:gosec // bytes per frame
	h = le.AppendUint16(h, uint16(8*f.Bytes())) //nolint:gosec // bits
	h = le.AppendUint16(h, 0)                   // no extension
	h = le.AppendUint32(append(h, "fact"...), 4)
	h = le.AppendUint32(h, frames)
	return le.AppendUint32(append(h, "data"...), dataLen)
}

// EncodeMu returns a complete WAV file of 8 kHz µ-law. The samples of two channels alternate.
func EncodeMu(channels int, mu []byte) []byte {
	out := append(Header(channels, uint32(len(mu))), mu...) //nolint:gosec // fits into memory
	if len(mu)%2 == 1 {
		out = append(out, 0)
	}
	return out
}

// EncodePCM returns a complete WAV file of 8 kHz 16-bit samples. The samples of several channels alternate.
func EncodePCM(channels int, pcm []int16) []byte {
	b := PCM16.Header(channels, uint32(2*len(pcm))) //nolint:gosec // the caller's memory is less
	for _, v := range pcm {
		b = binary.LittleEndian.AppendUint16(b, uint16(v)) //nolint:gosec // the bits of it
	}
	return b
}

// Repair writes the actual lengths into the header of a recording that a crash left unfinished, and returns the
// recording's duration. It does not change a finished file.
func Repair(path string) (time.Duration, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // the caller names the file
	if err != nil {
		return 0, fmt.Errorf("wav: repair: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("wav: repair: %w", err)
	}
	var h [HeaderLen]byte
	if _, err = io.ReadFull(f, h[:]); err != nil || string(h[50:54]) != "data" {
		return 0, fmt.Errorf("wav: repair %s: %w", path, ErrFormat)
	}
	channels, format := int64(max(binary.LittleEndian.Uint16(h[22:]), 1)), MuLaw
	if binary.LittleEndian.Uint16(h[20:]) == tagPCM {
		format = PCM16
	}
	width := channels * int64(format.Bytes())
	length := (info.Size() - HeaderLen) / width * width
	sounds := time.Duration(length/width) * time.Second / 8000
	if binary.LittleEndian.Uint32(h[54:]) != Unknown {
		return sounds, nil
	}
	if _, err = f.WriteAt(format.Header(int(channels), uint32(length)), 0); err == nil { //nolint:gosec // hours below 4 GB
		err = f.Sync()
	}
	if err != nil {
		return 0, fmt.Errorf("wav: repair: %w", err)
	}
	return sounds, nil
}

// InspectRecording returns the sample format of a two-channel recording, finished or not, and its number of audio bytes.
func InspectRecording(path string) (f Format, size int64, err error) {
	in, err := os.Open(path) //nolint:gosec // the caller names the file
	if err != nil {
		return f, 0, fmt.Errorf("wav: %w", err)
	}
	defer func() { _ = in.Close() }()
	var h [HeaderLen]byte
	if _, err = io.ReadFull(in, h[:]); err != nil || string(h[50:54]) != "data" || binary.LittleEndian.Uint16(h[22:]) != 2 {
		return f, 0, fmt.Errorf("wav: %s: %w", path, ErrFormat)
	}
	info, err := in.Stat()
	if err != nil {
		return f, 0, fmt.Errorf("wav: %w", err)
	}
	if binary.LittleEndian.Uint16(h[20:]) == tagPCM {
		f = PCM16
	}
	return f, info.Size() - HeaderLen, nil
}

// ReadFile reads and decodes a WAV file of at most limit bytes.
func ReadFile(path string, limit int64) (*Sound, error) {
	f, err := os.Open(path) //nolint:gosec // the caller names the file
	if err != nil {
		return nil, fmt.Errorf("wav: %w", err)
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("wav: %w", err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%w: %s has more than %d bytes", ErrTooLarge, path, limit)
	}
	return Decode(b)
}

// format is the content of the fmt chunk of a WAV file.
type format struct {
	tag, channels, bits int
	rate                int
}

// Decode decodes a WAV file of 16-bit PCM, µ-law or A-law with one or two channels. If the data length exceeds b, the
// audio extends to the end of b, because programs that stream a file do not know its length.
func Decode(b []byte) (*Sound, error) {
	if len(b) < 12 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WAVE" {
		return nil, fmt.Errorf("%w: no RIFF header", ErrFormat)
	}
	var f format
	for rest := b[12:]; len(rest) >= 8; {
		name, size := string(rest[:4]), int64(binary.LittleEndian.Uint32(rest[4:]))
		rest = rest[8:]
		body := rest[:min(size, int64(len(rest)))]
		switch name {
		case "fmt ":
			if err := f.read(body); err != nil {
				return nil, err
			}
		case "data":
			if f.tag == 0 {
				return nil, fmt.Errorf("%w: the data chunk comes before the fmt chunk", ErrFormat)
			}
			return f.sound(body), nil
		}
		rest = rest[min(size+size%2, int64(len(rest))):]
	}
	return nil, fmt.Errorf("%w: the data chunk is missing", ErrFormat)
}

func (f *format) read(b []byte) error {
	if len(b) < 16 {
		return fmt.Errorf("%w: the fmt chunk is too short", ErrFormat)
	}
	le := binary.LittleEndian
	*f = format{int(le.Uint16(b)), int(le.Uint16(b[2:])), int(le.Uint16(b[14:])), int(le.Uint32(b[4:]))}
	if f.tag == tagExtensible && len(b) >= 26 {
		f.tag = int(le.Uint16(b[24:]))
	}
	known := f.tag == tagPCM && f.bits == 16 || (f.tag == tagMuLaw || f.tag == tagALaw) && f.bits == 8
	if !known || f.channels < 1 || f.channels > 2 || f.rate < minRate || f.rate > maxRate {
		return fmt.Errorf("%w: tag %d, %d bits, %d channels, %d Hz", ErrFormat, f.tag, f.bits, f.channels, f.rate)
	}
	return nil
}

func (f *format) sound(b []byte) *Sound {
	s := &Sound{Rate: f.rate, Channels: f.channels}
	n := len(b) / (f.bits / 8) / f.channels * f.channels
	s.Samples = make([]int16, n)
	for i := range s.Samples {
		switch f.tag {
		case tagMuLaw:
			s.Samples[i] = g711.MuToLinear(b[i])
		case tagALaw:
			s.Samples[i] = g711.AToLinear(b[i])
		default:
			s.Samples[i] = int16(binary.LittleEndian.Uint16(b[2*i:])) //nolint:gosec // two's complement
		}
	}
	return s
}
