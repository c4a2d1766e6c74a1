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

// BrowserCalls starts calls between a browser and an agent.
type BrowserCalls interface {
	// StartBrowserCall starts a call from a browser to an agent. It returns when the call is answered. Errors:
	// not_found, invalid_state, engine_not_configured, no_trunk, concurrent_limit_exceeded, unavailable.
	StartBrowserCall(ctx context.Context, p domain.Principal, o calls.BrowserCallRequest, events calls.BrowserCallEvents) (calls.BrowserCall, error)
}

// TalkHello is the first message that the service sends to the browser. It is a text message.
type TalkHello struct {
	Type   string       `json:"type" enum:"hello" doc:"Always hello."`
	CallID string       `json:"call_id"`
	Format ListenFormat `json:"format" doc:"Audio format of the binary messages in both directions."`
}

// TalkNote is any later text message to the browser.
type TalkNote struct {
	Type    string            `json:"type" enum:"state,transcript,dtmf,ended" doc:"Kind of message."`
	Status  domain.CallStatus `json:"status,omitempty" doc:"With state: the status of the call, in_progress after the answer."`
	Segment *domain.Segment   `json:"segment,omitempty" doc:"With transcript: a segment of the transcript. Updates repeat its index."`
	Digits  string            `json:"digits,omitempty" doc:"With dtmf: the key that the agent presses."`
}

// TalkOrder is a text message in which the browser presses keys or ends the call.
type TalkOrder struct {
	Type   string `json:"type" enum:"dtmf,hangup" doc:"Action to perform."`
	Digits string `json:"digits,omitempty" doc:"With dtmf: keys to press, at most 32."`
}

// TalkTexts lists the text messages of the WebSocket for the OpenAPI document.
type TalkTexts struct {
	Hello TalkHello `json:"hello" doc:"The first message."`
	Note  TalkNote  `json:"note" doc:"All other messages from the service."`
	Order TalkOrder `json:"order" doc:"Messages from the browser."`
}

// Limits of the text messages from a browser.
const (
	maxOrders = 500 // text messages per call
	maxDigits = 32  // DTMF digits per message
)

// registerBrowserCall registers the WebSocket for calls from a browser.
func (s *Server) registerBrowserCall() {
	const path = "/v1/agents/{id}/talk"
	s.AddRawAdmitted(router.Operation{
		Method: http.MethodGet, Path: path, ID: "talkToAgent", Stream: true, Tag: "Agents", Summary: "Talk to an agent by WebSocket",
		Description: "Opens a WebSocket with a test key. The test carrier calls the agent. The call is a normal inbound call that needs a permit and has a record " +
			"(`direction` inbound, `caller.name` Browser), until either side or the WebSocket ends it. The first message is the text TalkHello. Binary messages with 20 ms of the " +
			"agent's audio follow (µ-law, 8 kHz, mono), and text messages TalkNote with the state, the live transcript and keys. The last message is the text {\"type\":\"ended\"}. Binary messages from the browser, in the " +
			"same format and of at most 4096 bytes, are the caller's audio in real time: audio that is more than 400 ms ahead is dropped. Text messages TalkOrder press keys or hang up. " +
			"A client that reads too slowly is disconnected. Browsers use a ticket, like the page /talk.",
		Errors: []int{http.StatusConflict, http.StatusUnprocessableEntity, http.StatusUpgradeRequired},
	}, s.admitWithTicket, func(h *huma.Operation) {
		h.Parameters = append(
			h.Parameters,
			&huma.Param{Name: "from", In: "query", Description: "Caller ID of the call, in E.164.", Schema: &huma.Schema{Type: huma.TypeString, Default: "+15005550000"}},
			&huma.Param{Name: ticketParam, In: "query", Description: "Ticket in place of a credential.", Schema: &huma.Schema{Type: huma.TypeString}},
		)
		h.Security = append(h.Security, map[string][]string{})
		h.Responses["101"] = &huma.Response{Description: "The WebSocket is open. The schema lists its text messages.", Content: map[string]*huma.MediaType{
			fiber.MIMEApplicationJSON: {Schema: router.SchemaOf[TalkTexts](s.API)},
		}}
	}, s.openBrowserCall)
}

// openBrowserCall starts the call and upgrades the browser's connection to a WebSocket.
func (s *Server) openBrowserCall(c *fiber.Ctx) error {
	id, err := router.PathID(domain.PrefixAgent, c.Params("id"))
	if err != nil {
		return err
	}
	o := calls.BrowserCallRequest{AgentID: id}
	if from := c.Query("from"); from != "" {
		if o.From, err = domain.E164(strings.ReplaceAll(from, " ", "+"), ""); err != nil { // URL decoding turns a plus into a space
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

// orderHandler returns a function that runs the commands in the browser's text messages.
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

// talkPolicy extends the Content-Security-Policy of the page for browser calls. It allows the page's script and
// WebSocket.
const talkPolicy = "; script-src 'self'; connect-src 'self'"

// talkPage is the data of the page for calls from a browser.
type talkPage struct {
	pages.Frame

	Keys []string
}

// registerTalkPage registers the page for calls from a browser, and its script.
func (s *Server) registerTalkPage() {
	pages.Register(s.Router, router.Operation{
		Method: http.MethodGet, Path: "/talk", ID: "getTalkPage", Tag: "Agents", Summary: "Get the page for calls from a browser", Public: true,
		Description: "An HTML page for browsers with a microphone. The fragment of its URL is the path of /v1/agents/{id}/talk with a ticket. The browser sends the ticket only to open the WebSocket.",
	}, func(*huma.Operation) {}, func(c *fiber.Ctx) error {
		if err := pages.Respond(c, http.StatusOK, "talk", talkPage{pages.NewFrame("Talk to an agent"), strings.Split("123456789*0#", "")}, ""); err != nil {
			return err
		}
		c.Set(fiber.HeaderContentSecurityPolicy, pages.Policy()+talkPolicy)
		c.Set("Permissions-Policy", "microphone=(self)")
		return nil
	})
	s.AddRaw(router.Operation{
		Method: http.MethodGet, Path: "/talk.js", ID: "getTalkScript", Tag: "Agents", Summary: "Get the script of the page /talk", Public: true, Description: "For browsers.",
	}, func(h *huma.Operation) {
		h.Responses["200"] = router.DescribeResponse("A script.", "text/javascript", &huma.Schema{Type: huma.TypeString})
	}, func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, "text/javascript; charset=utf-8")
		c.Set(fiber.HeaderCacheControl, "public, max-age=300")
		return c.SendString(talkScript)
	})
}
