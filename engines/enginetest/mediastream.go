package enginetest

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"

	"github.com/coder/websocket"

	"github.com/callboard/callboard/media/g711"
)

// Texts that the media stream bot speaks: Greeting at once, and Answered after the caller has spoken and is silent. The
// bot clears its audio when the caller interrupts, and closes the connection after Answered was played.
const (
	Greeting = "Good morning from a server of my own, how can I help you?"
	Answered = "See you on Friday then."
)

// mediaStream handles a media stream connection like the bot of a developer.
func (s *Server) mediaStream(w http.ResponseWriter, r *http.Request) {
	f, _ := s.now("media")
	mac := hmac.New(sha256.New, []byte(Key))
	mac.Write([]byte(r.Header.Get("Webhook-Id") + "." + r.Header.Get("Webhook-Timestamp") + ".wss://" + r.Host + r.URL.RequestURI()))
	if r.Header.Get("X-Svc-Signature") != "sha256="+hex.EncodeToString(mac.Sum(nil)) || f == Refuses {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if f == Hangs {
		s.wait(r)
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	go func() {
		<-s.ended
		cancel()
	}()
	b := &bot{conn: conn, ctx: ctx}
	for {
		_, message, err := conn.Read(ctx)
		if err != nil {
			return
		}
		var e struct {
			Event string
			Media struct{ Payload []byte }
			Mark  struct{ Name string }
			SID   string `json:"streamSid"`
		}
		_ = json.Unmarshal(message, &e)
		if e.Event != "media" {
			s.mu.Lock()
			s.told = append(s.told, string(message))
			s.mu.Unlock()
		}
		switch e.Event {
		case "start":
			b.stream = e.SID
			switch f { //nolint:exhaustive // the other faults do not concern this point
			case Garbage:
				_ = conn.Write(ctx, websocket.MessageText, []byte("<html>"))
			case Drops:
				b.says(Greeting[:8])
				return
			default:
				b.says(Greeting)
				b.send(map[string]any{"event": "mark", "mark": map[string]any{"name": "greeted"}})
			}
		case "media":
			b.hears(e.Media.Payload)
		case "mark":
			if e.Mark.Name == "answered" {
				_ = conn.Close(websocket.StatusNormalClosure, "")
				return
			}
		}
	}
}

type bot struct {
	conn   *websocket.Conn
	ctx    context.Context // of the connection
	stream string
	loud   int
	quiet  int
	speaks bool
}

func (b *bot) send(v map[string]any) {
	v["streamSid"] = b.stream
	text, _ := json.Marshal(v)
	_ = b.conn.Write(b.ctx, websocket.MessageText, text)
}

func (b *bot) says(text string) {
	for sound := MuLawAudio(text); len(sound) > 0; {
		piece := sound[:min(deltaMost, len(sound))]
		sound = sound[len(piece):]
		b.send(map[string]any{"event": "media", "media": map[string]any{"payload": base64.StdEncoding.EncodeToString(piece)}})
	}
}

func (b *bot) hears(mu []byte) {
	for _, x := range mu {
		if v := g711.MuToLinear(x); v > loudSample || v < -loudSample {
			b.loud, b.quiet = b.loud+1, 0
		} else {
			b.quiet++
		}
		switch {
		case !b.speaks && b.loud > begunAfter/2:
			b.speaks = true
			b.send(map[string]any{"event": "clear"})
		case b.speaks && b.quiet > ceasedAfter:
			b.speaks, b.loud = false, 0
			b.says(Answered)
			b.send(map[string]any{"event": "mark", "mark": map[string]any{"name": "answered"}})
		}
	}
}
