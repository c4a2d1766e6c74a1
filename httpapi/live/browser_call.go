package live

import (
	"context"
	_ "embed"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/pages"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/calls"
)

// BrowserCalls are calls between a browser and an agent.
type BrowserCalls interface {
	// StartBrowserCall calls an agent for a caller in a browser, and returns once the call
	// is answered. Errors: not_found, invalid_state,
	// engine_not_configured, no_trunk, concurrent_limit_exceeded, unavailable.
	StartBrowserCall(ctx context.Context, p domain.Principal, o calls.BrowserCallRequest, events calls.BrowserCallEvents) (calls.BrowserCall, error)
}

// TalkHello is the first message to the caller, a text message.
type TalkHello struct {
	Type   string       `json:"type" enum:"hello" doc:"Always hello."`
	CallID string       `json:"call_id"`
	Format ListenFormat `json:"format" doc:"Of the binary messages, both ways."`
}

// TalkNote is a text message to the caller.
type TalkNote struct {
	Type    string            `json:"type" enum:"state,transcript,dtmf,ended" doc:"What it tells."`
	Status  domain.CallStatus `json:"status,omitempty" doc:"Of the call, with state: in_progress from the answer on."`
	Segment *domain.Segment   `json:"segment,omitempty" doc:"With transcript: what is said, when it begins, and again with the same index whenever more is known of it."`
	Digits  string            `json:"digits,omitempty" doc:"With dtmf: the key that the agent presses."`
}

// TalkOrder is a text message of the caller.
type TalkOrder struct {
	Type   string `json:"type" enum:"dtmf,hangup" doc:"What is to be done."`
	Digits string `json:"digits,omitempty" doc:"With dtmf: keys to press, 32 at most."`
}

// TalkTexts are the text messages of the socket.
type TalkTexts struct {
	Hello TalkHello `json:"hello" doc:"The first message."`
	Note  TalkNote  `json:"note" doc:"The others."`
	Order TalkOrder `json:"order" doc:"What may be sent."`
}

// Bounds of the text messages of a caller.
const (
	maxOrders = 500 // of one call
	maxDigits = 32  // of one message
)

// registerBrowserCall registers the WebSocket of callers.
func (s *Server) registerBrowserCall() {
	const path = "/v1/agents/{id}/talk"
	s.AddRawAdmitted(router.Operation{
		Method: http.MethodGet, Path: path, ID: "talkToAgent", Stream: true, Tag: "Agents", Summary: "Talk to an agent by WebSocket",
		Description: "A WebSocket, with a test key. The service's built-in carrier calls the agent: a call like any other that comes in, which takes a line and stands in the record " +
			"(`direction` inbound, `caller.name` Browser), until either side ends it or the socket does. The first message is a text, TalkHello; then come binary messages of 20 ms of the " +
			"agent's sound: µ-law, 8 kHz, one channel; and texts, TalkNote, for the state, the transcript as it grows and keys; at the end the text {\"type\":\"ended\"}. Binary messages of the " +
			"same format, of 4096 bytes at most, are what the caller says, at the pace at which it is said: what is more than 400 ms ahead is lost. Texts, TalkOrder, press keys or hang up. " +
			"Who takes the sound too slowly is dropped. Browsers use a ticket; the page /talk does.",
		Errors: []int{http.StatusConflict, http.StatusUnprocessableEntity, http.StatusUpgradeRequired},
	}, s.admitWithTicket, func(h *huma.Operation) {
		h.Parameters = append(
			h.Parameters,
			&huma.Param{Name: "from", In: "query", Description: "The number that the call comes from, E.164.", Schema: &huma.Schema{Type: huma.TypeString, Default: "+15005550000"}},
			&huma.Param{Name: ticketParam, In: "query", Description: "In place of a credential.", Schema: &huma.Schema{Type: huma.TypeString}},
		)
		h.Security = append(h.Security, map[string][]string{})
		h.Responses["101"] = &huma.Response{Description: "The socket is open. Its texts are of these shapes.", Content: map[string]*huma.MediaType{
			fiber.MIMEApplicationJSON: {Schema: router.SchemaOf[TalkTexts](s.API)},
		}}
	}, s.openBrowserCall)
}

// openBrowserCall calls an agent for the caller.
func (s *Server) openBrowserCall(c *fiber.Ctx) error {
	id, err := router.PathID(domain.PrefixAgent, c.Params("id"))
	if err != nil {
		return err
	}
	o := calls.BrowserCallRequest{AgentID: id}
	if from := c.Query("from"); from != "" {
		if o.From, err = domain.E164(strings.ReplaceAll(from, " ", "+"), ""); err != nil { // a plus in a query is a space
			var ps domain.Problems
			ps.Add("from", domain.CodeValidation, "must be a number in E.164")
			return ps.Err()
		}
	}
	v := router.RequestOf(c.UserContext())
	if _, err = s.agents.Agent(c.UserContext(), v.Principal, id); err != nil {
		return err
	}
	r, err := upgradeRequest(c)
	if err != nil {
		return err
	}
	frames, messages := newFrameQueue(), newMessageQueue()
	var once sync.Once
	t, err := s.browserCalls.StartBrowserCall(c.UserContext(), v.Principal, o, calls.BrowserCallEvents{
		Sound: frames.push,
		Segment: func(segment domain.Segment) {
			once.Do(func() { messages.push(TalkNote{Type: "state", Status: domain.CallInProgress}) })
			messages.push(TalkNote{Type: "transcript", Segment: &segment})
		},
		State: func(status domain.CallStatus) {
			if status == domain.CallInProgress {
				once.Do(func() { messages.push(TalkNote{Type: "state", Status: status}) })
			}
		},
		Key: func(key byte) { messages.push(TalkNote{Type: "dtmf", Digits: string(key)}) },
	})
	if err != nil {
		return err
	}
	socket := &audioSocket{
		server: s, request: *v, audio: calls.LiveAudio{Say: t.Say, Leave: t.Leave}, frames: frames, messages: messages, receiveText: orderHandler(&t),
		log: s.Log.With(slog.String("call_id", t.CallID), slog.String("request_id", v.RequestID)),
	}
	return socket.open(c, r, TalkHello{Type: "hello", CallID: t.CallID, Format: listenFormat()})
}

// orderHandler returns the handler of the caller's text messages.
func orderHandler(t *calls.BrowserCall) func([]byte) error {
	left := maxOrders
	return func(text []byte) error {
		var o TalkOrder
		if left--; left < 0 {
			return errors.New("too many orders")
		}
		if err := domain.DecodeJSON(text, &o); err != nil {
			return err
		}
		switch {
		case o.Type == "hangup":
			t.Leave()
		case o.Type != "dtmf":
			return errors.New("type must be dtmf or hangup")
		case o.Digits == "" || len(o.Digits) > maxDigits || strings.Trim(o.Digits, "0123456789ABCD*#") != "":
			return errors.New("digits must be 1 to 32 of 0-9, A-D, * and #")
		default:
			t.Press(o.Digits)
		}
		return nil
	}
}

//go:embed talk.js
var talkScript string

// talkPolicy adds the page's own script and socket to its Content-Security-Policy.
const talkPolicy = "; script-src 'self'; connect-src 'self'"

// talkPage is the page to talk to an agent.
type talkPage struct {
	pages.Frame

	Keys []string
}

// registerTalkPage registers the page and its script.
func (s *Server) registerTalkPage() {
	pages.Register(s.Router, router.Operation{
		Method: http.MethodGet, Path: "/talk", ID: "getTalkPage", Tag: "Agents", Summary: "A page to talk to an agent", Public: true,
		Description: "For browsers, with a microphone. What stands behind the # of its address is the path of /v1/agents/{id}/talk with a ticket; it never leaves the browser but for opening the socket.",
	}, func(*huma.Operation) {}, func(c *fiber.Ctx) error {
		if err := pages.Respond(c, http.StatusOK, "talk", talkPage{pages.NewFrame("Talk to an agent"), strings.Split("123456789*0#", "")}, ""); err != nil {
			return err
		}
		c.Set(fiber.HeaderContentSecurityPolicy, pages.Policy()+talkPolicy)
		c.Set("Permissions-Policy", "microphone=(self)")
		return nil
	})
	s.AddRaw(router.Operation{
		Method: http.MethodGet, Path: "/talk.js", ID: "getTalkScript", Tag: "Agents", Summary: "The script of that page", Public: true, Description: "For browsers.",
	}, func(h *huma.Operation) {
		h.Responses["200"] = router.DescribeResponse("A script.", "text/javascript", &huma.Schema{Type: huma.TypeString})
	}, func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, "text/javascript; charset=utf-8")
		c.Set(fiber.HeaderCacheControl, "public, max-age=300")
		return c.SendString(talkScript)
	})
}
