package recording_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/wav"
)

// memoryStores implements the store and the blob storage of the queue in memory.
type memoryStores struct {
	mu        sync.Mutex
	calls     map[string]domain.Call
	conflicts int // of the next commits
	events    []event.Type
	blobs     map[string]string
	blobsFail bool // blobs cannot be stored
	puts      int  // attempts to store a blob since the last takePutCount
}

func (s *memoryStores) Get(_ context.Context, into domain.Record) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := into.(*domain.Call)
	if stored, known := s.calls[c.ID]; ok && known {
		*c = stored
		return 1, nil
	}
	return 0, domain.ErrNotFound
}

func (s *memoryStores) Apply(_ context.Context, c commit.Change) ([]event.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conflicts > 0 {
		s.conflicts--
		return nil, domain.ErrConflict
	}
	for _, r := range c.Puts {
		if call, ok := r.(*domain.Call); ok {
			s.calls[call.ID] = *call
		}
	}
	for i := range c.Events {
		s.events = append(s.events, c.Events[i].Type)
	}
	return nil, nil
}

func (s *memoryStores) Put(_ context.Context, _, name string, r io.Reader) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.puts++
	if s.blobsFail {
		return 0, errors.New("no route to the bucket")
	}
	all, err := io.ReadAll(r)
	s.blobs[name] = string(all)
	return int64(len(all)), err
}

// openBlob is the content of a blob that a test or a job reads.
type openBlob struct{ *strings.Reader }

func (openBlob) Close() error { return nil }

func (s *memoryStores) Open(_ context.Context, _, name string) (io.ReadSeekCloser, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, ok := s.blobs[name]
	if !ok {
		return nil, 0, domain.ErrNotFound
	}
	return openBlob{strings.NewReader(all)}, int64(len(all)), nil
}

func (s *memoryStores) Delete(_ context.Context, _, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.blobs, name)
	return nil
}

// takePutCount returns the number of calls of Put since the last call of takePutCount.
func (s *memoryStores) takePutCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.puts
	s.puts = 0
	return n
}

func (s *memoryStores) setBlobsFail(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobsFail = away
}

// fixture is a recording queue with in-memory stores and a spool folder.
type fixture struct {
	*memoryStores

	t          *testing.T
	dir        string
	queue      *recording.Queue
	runInActor func(func(actor.Context)) // calls a function in the actor of the queue
}

func runWithQueue(t *testing.T, script func(f *fixture)) {
	t.Helper()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		t.Helper()
		f := &fixture{t: t, memoryStores: &memoryStores{calls: make(map[string]domain.Call), blobs: make(map[string]string)}}
		spool := t.TempDir()
		f.dir = filepath.Join(spool, "ws_1")
		require.NoError(t, os.MkdirAll(f.dir, 0o700))
		f.queue = recording.NewQueue(recording.Config{
			Workspace: "ws_1", SpoolDir: spool, PublicURL: "https://callboard.example", Store: f, Blobs: f, Log: slog.New(slog.DiscardHandler),
			LiveCalls: func() iter.Seq[string] { return maps.Keys(map[string]bool{"call_live": true}) },
		})
		pid := sys.Root.Spawn(mailbox.Props(func() actor.Actor {
			return actor.ReceiveFunc(func(ctx actor.Context) {
				if f, ok := ctx.Message().(func(actor.Context)); ok {
					f(ctx)
					return
				}
				f.queue.Receive(ctx)
			})
		}, 100))
		f.runInActor = func(f func(actor.Context)) {
			sys.Root.Send(pid, f)
			synctest.Wait()
		}
		script(f)
		sys.Root.Poison(pid)
		synctest.Wait()
	})
}

// storeCall stores an ended call.
func (f *fixture) storeCall(id string) *domain.Call {
	c := domain.Call{Meta: domain.Meta{ID: id, WorkspaceID: "ws_1"}, Status: domain.CallCompleted, AnsweredAt: new(time.Now()), Record: true, Processing: true}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[id] = c
	return &c
}

// writeSpoolFile writes a file into the spool.
func (f *fixture) writeSpoolFile(name, content string) (path string) {
	f.t.Helper()
	path = filepath.Join(f.dir, name)
	require.NoError(f.t, os.WriteFile(path, []byte(content), 0o600))
	past := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC) // before the clock of the synctest bubble
	require.NoError(f.t, os.Chtimes(path, past, past))
	return path
}

// queueState returns the number of recordings that are not stored, and whether a job is in progress.
func (f *fixture) queueState() (now []any) {
	f.runInActor(func(actor.Context) { now = []any{f.queue.Len(), f.queue.Active()} })
	return now
}

func (f *fixture) countSpoolFiles() int {
	f.t.Helper()
	all, err := os.ReadDir(f.dir)
	require.NoError(f.t, err)
	return len(all)
}

// endCall adds the ended call with a recording of ten seconds to the queue.
func (f *fixture) endCall(id string) {
	f.t.Helper()
	c, pending := f.storeCall(id), make(chan media.Recording, 1)
	pending <- media.Recording{Path: f.writeSpoolFile(id+".wav", "audio of "+id), Duration: 10 * time.Second}
	f.runInActor(func(ctx actor.Context) { f.queue.Add(ctx, c, pending) })
}

func TestRecordingIsStoredWithItsCall(t *testing.T) {
	t.Parallel()
	runWithQueue(t, func(f *fixture) {
		f.conflicts = 2
		f.endCall("call_1")
		assert.Equal(t, "audio of call_1", f.blobs["call_1.wav"])
		c := f.calls["call_1"]
		assert.Equal(t, []any{true, false, 10.0, "https://callboard.example/v1/calls/call_1/recording"}, []any{c.RecordingAvailable, c.Processing, c.RecordingSeconds, c.RecordingURL})
		assert.Equal(t, []event.Type{event.CallRecordingReady}, f.events)
		assert.Zero(t, f.countSpoolFiles())
		assert.Equal(t, []any{0, false}, f.queueState())
	})
}

func TestRecordingsWaitWhileOneProbesTheBlobStorage(t *testing.T) {
	t.Parallel()
	runWithQueue(t, func(f *fixture) {
		f.setBlobsFail(true)
		for i := range 10 {
			f.endCall("call_" + strconv.Itoa(i))
		}
		assert.Equal(t, 10, f.takePutCount())
		assert.Equal(t, []any{10, false}, f.queueState(), "they are safe in the spool")
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.LessOrEqual(t, f.takePutCount(), 6, "1, 2, 4, 8, 16, 30 seconds apart")
		f.setBlobsFail(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Len(t, f.blobs, 10)
		assert.Equal(t, []any{0, false}, f.queueState())
	})
}

func TestRecordingOfADeletedCallIsRemoved(t *testing.T) {
	t.Parallel()
	runWithQueue(t, func(f *fixture) {
		c, pending := f.storeCall("call_1"), make(chan media.Recording, 1)
		delete(f.calls, "call_1")
		pending <- media.Recording{Path: f.writeSpoolFile("call_1.wav", "audio"), Duration: time.Second}
		f.runInActor(func(ctx actor.Context) { f.queue.Add(ctx, c, pending) })
		assert.Empty(t, f.blobs)
		assert.Zero(t, f.countSpoolFiles())
	})
}

func TestLostRecordingEndsProcessing(t *testing.T) {
	t.Parallel()
	runWithQueue(t, func(f *fixture) {
		c, pending := f.storeCall("call_1"), make(chan media.Recording, 1)
		pending <- media.Recording{Err: errors.New("the disk was full")}
		f.runInActor(func(ctx actor.Context) { f.queue.Add(ctx, c, pending) })
		stored := f.calls["call_1"]
		assert.Equal(t, []bool{false, false}, []bool{stored.Processing, stored.RecordingAvailable})
		assert.Empty(t, f.events)
	})
}

func TestSpoolOfAnEarlierProcessIsStored(t *testing.T) {
	t.Parallel()
	runWithQueue(t, func(f *fixture) {
		cut := string(wav.Header(2, wav.Unknown)) + strings.Repeat("\x7f", 16000)
		for _, id := range []string{"call_1", "call_live", "call_resumable"} {
			f.storeCall(id)
			f.writeSpoolFile(id+".wav", cut)
		}
		f.writeSpoolFile("call_2.wav", "no audio")
		f.writeSpoolFile("call_3.wav.joined", "")
		f.runInActor(func(ctx actor.Context) { f.queue.RecoverSpool(ctx, map[string]bool{"call_resumable": true}) })
		assert.Len(t, f.blobs, 1)
		whole := []byte(f.blobs["call_1.wav"])
		assert.InDelta(t, 1, f.calls["call_1"].RecordingSeconds, 0.001)
		assert.False(t, bytes.Equal(whole, []byte(cut)), "its length stands in its header")
		assert.Equal(t, 2, f.countSpoolFiles(), "those of the live and of the resumable call")
	})
}

// muLawSeconds returns audio of two channels with one byte value per second. 0xFF is silence.
func muLawSeconds(values ...byte) (audio []byte) {
	for _, v := range values {
		audio = append(audio, bytes.Repeat([]byte{v}, 16000)...)
	}
	return audio
}

func TestPartIsJoinedOnceTheStoredRecordingIsReadable(t *testing.T) {
	t.Parallel()
	runWithQueue(t, func(f *fixture) {
		c := f.storeCall("call_1")
		c.RecordingAvailable, c.RecordingSeconds = true, 2
		f.calls["call_1"] = *c
		f.writeSpoolFile("call_1.wav.beginning", string(wav.EncodeMu(2, muLawSeconds(1, 2))))
		join := func() {
			f.runInActor(func(ctx actor.Context) { ctx.Send(ctx.Self(), recording.JoinParts{}) })
		}
		join()
		assert.Equal(t, 1, f.countSpoolFiles(), "the rest cannot be read here")
		f.mu.Lock()
		f.blobs["call_1.wav"] = string(wav.EncodeMu(2, muLawSeconds(0xFF, 0xFF, 3)))
		f.mu.Unlock()
		join()
		assert.Zero(t, f.countSpoolFiles())
		assert.Equal(t, string(wav.EncodeMu(2, muLawSeconds(1, 2, 3))), f.blobs["call_1.wav"])
		assert.InDelta(t, 3, f.calls["call_1"].RecordingSeconds, 0.001)
		assert.Empty(t, f.events, "the event was sent for the rest")
	})
}
