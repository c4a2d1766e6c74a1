package speech_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/speech"
)

// liveEngine is a realtime engine that records the requests and event callbacks of its sessions.
type liveEngine struct {
	orders []speech.RealtimeRequest
	told   []func(speech.RealtimeEvent)
}

func (e *liveEngine) OpenSession(o speech.RealtimeRequest, told func(speech.RealtimeEvent)) speech.RealtimeSession {
	e.orders, e.told = append(e.orders, o), append(e.told, told)
	return nil
}

func TestFailingRealtimeEngineIsSuspendedAndNextOneServes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, second := new(liveEngine), new(liveEngine)
		l := speech.NewRealtimeEngines([]speech.NamedRealtimeEngine{{Name: "a", Engine: first}, {Name: "b", Engine: second}}, []string{"a", "b"})
		assert.True(t, l.HasEngine("") && l.HasEngine("b") && !l.HasEngine("c"))
		assert.False(t, (*speech.RealtimeEngines)(nil).HasEngine(""))
		order := speech.RealtimeRequest{Model: "m", Voice: "v", Instructions: "Be kind."}
		heard := 0
		open := func(name string) (string, error) {
			_, got, err := l.Open(name, order, func(speech.RealtimeEvent) { heard++ })
			return got.Name, err
		}
		for range 3 {
			name, err := open("")
			require.NoError(t, err)
			assert.Equal(t, "a", name)
			first.told[len(first.told)-1](speech.RealtimeEvent{Kind: speech.RealtimeFailed, Err: speech.ErrFirstAudioTimeout})
		}
		assert.Equal(t, 3, heard)
		name, err := open("")
		require.NoError(t, err)
		assert.Equal(t, "b", name)
		assert.Equal(t, speech.RealtimeRequest{Instructions: "Be kind."}, second.orders[0], "names of models and voices are the first one's")
		_, err = open("a")
		require.ErrorIs(t, err, speech.ErrEngineSuspended, "nobody stands behind one that is named")
		_, err = open("c")
		require.Error(t, err)
		time.Sleep(time.Minute)
		name, err = open("")
		require.NoError(t, err)
		assert.Equal(t, "a", name)
		assert.Equal(t, order, first.orders[3])
		first.told[3](speech.RealtimeEvent{Kind: speech.RealtimeReady})
		first.told[3](speech.RealtimeEvent{Kind: speech.RealtimeFailed, Err: speech.ErrFirstAudioTimeout})
		_, err = open("a")
		require.NoError(t, err, "it was well in between")
	})
}

func TestInvalidRequestDoesNotSuspendEngine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		voice, bot := new(liveEngine), new(liveEngine)
		l := speech.NewRealtimeEngines([]speech.NamedRealtimeEngine{{Name: "voice", Engine: voice}, {Name: "bot", Engine: bot, IsMediaStream: true}}, nil)
		assert.True(t, l.HasMediaStream("bot") && !l.HasMediaStream("voice") && !l.HasMediaStream("other"))
		lose := func(name string, of *liveEngine, err error) {
			for range 4 {
				if _, _, failed := l.Open(name, speech.RealtimeRequest{Voice: "nobody"}, func(speech.RealtimeEvent) {}); failed == nil {
					of.told[len(of.told)-1](speech.RealtimeEvent{Kind: speech.RealtimeFailed, Err: err})
				}
			}
		}
		lose("voice", voice, speech.ErrRequestInvalid)
		assert.Len(t, voice.told, 4, "others have named what there is")
		lose("voice", voice, speech.ErrRequestRefused)
		assert.Len(t, voice.told, 7, "a wrong key is everybody's")
		lose("bot", bot, speech.ErrRequestInvalid)
		assert.Len(t, bot.told, 3, "nothing that is asked of it is an agent's choice")
	})
}
