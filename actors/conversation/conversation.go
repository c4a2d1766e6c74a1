// Package conversation carries a pathway out on a call: it has prompts spoken
// and played, hears keys, keeps the times of silence and writes down what was
// said. What comes next is decided in domain/pathway; it knows no dialog.
package conversation

import (
	"encoding/json"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

// What a conversation hears.
type (
	// Begin starts it: the call is answered and the media clock runs.
	Begin struct{}
	// Heard is an event of the call's media.
	Heard struct{ Event media.Event }
	// Speak says a text besides the pathway, once nothing else sounds.
	Speak struct{ Text string }
	// Away says that somebody else has the caller: nothing is said and no key
	// counts until Back.
	Away struct{}
	// Back says that the caller is the agent's again. OK: he was reached by
	// somebody in between.
	Back struct{ OK bool }
	// Human says that somebody else came to speak with the caller, or left.
	Human struct{ On bool }
	// HumanKey is a key that he pressed.
	HumanKey struct{ Key byte }
	// Finish ends it: the call is over. Finished answers.
	Finish struct{}

	spoken struct {
		generation int
		said       speech.Utterance
		first, err error // of the first try and of the last
	}
	engineFailed struct {
		stage string // tts | stt
		fault speech.Fault
	}
	prepared struct {
		request speech.Request
		clip    media.Clip
	}
	waited  struct{ generation int }
	silence struct{ generation int }
	unsaid  struct{} // nobody knows yet what was said last
	over    struct{ over Over }
)

// What a conversation tells its call.
type (
	// Over says that the pathway has come to its end: the call may hang up.
	// Reason is "" or why it was broken off.
	Over struct {
		Outcome domain.Outcome
		Reason  string
		Unable  bool // the agent could not speak, hear or think: the call is no success
	}
	// Transfer asks for the caller to be handed on; Back answers unless he goes
	// for good.
	Transfer struct {
		Destination string
		Mode        domain.TransferMode
		Summary     string
		Kept        string // Summary as it may be kept
		Reason      string // why; "": the pathway wants it
	}
	// Fault says that something went wrong; Recovered: the caller did not
	// notice. The conversation goes on.
	Fault struct {
		Stage, Code, Message string
		Recovered            bool
	}
	// Finished answers Finish.
	Finished struct {
		Result   pathway.Result
		Segments []domain.Segment
		Slowest  time.Duration // the longest wait for the agent's next word
		Turns    []domain.TurnLatency
		Unable   bool // the agent could not speak, hear or think, or was not heard before the caller hung up
	}
)

// Control: all of these are bound by the call.
func (Begin) Control()    {}
func (Heard) Control()    {}
func (Finish) Control()   {}
func (Speak) Control()    {}
func (Away) Control()     {}
func (Back) Control()     {}
func (Human) Control()    {}
func (HumanKey) Control() {}
func (Transfer) Control() {}
func (Over) Control()     {}
func (Fault) Control()    {}
func (Finished) Control() {}
func (spoken) Control()   {}

func (engineFailed) Control() {}

func (prepared) Control() {}
func (waited) Control()   {}
func (silence) Control()  {}
func (unsaid) Control()   {}
func (over) Control()     {}

// How long things may take.
const (
	speakLimit   = 8 * time.Second        // one synthesis; a second try gets as long
	tail         = 250 * time.Millisecond // the far end still hears what was sent last
	wordsPerMin  = 175                    // of a rate of 1
	clipsKept    = 16
	mergeKeys    = 3 * time.Second // keys closer than that are one input in the transcript
	normalPlenty = 0.01

	// lastLimit is for the words that were being said when the call ended. The
	// call waits longer.
	lastLimit = 900 * time.Millisecond
)

// Sound is what a conversation needs of the call's media.
type Sound interface {
	Play(id uint64, clip media.Clip)
	PlayFeed(id uint64, feed *media.Feed)
	StopPlaying()
	PausePlaying()
	ContinuePlaying()
	SendDigits(id uint64, digits string)
	Mark() time.Duration
}

// Config of one conversation.
type Config struct {
	Script    domain.Script
	Variables map[string]string // built-ins and the contact's data
	Sound     Sound
	Speaker   speech.Speaker
	Ears      speech.Recogniser // nil: words are not heard
	Ear       *speech.Ear       // hears what the far end says; nil as Ears
	Log       *slog.Logger
	Mind      Mind             // nil: no model takes part, and nothing is done besides speaking
	Answerer  bool             // Sound tells who has answered: what Script.AMD wants is done
	OptOut    []string         // what the far end says or presses to get no more calls
	Hide      func(on bool)    // what is keyed in now must not be kept; nil: nobody cares
	Redact    *domain.Redactor // takes out of all that is told what must not be kept; nil: nothing
	Stands    bool             // the call is told where the conversation stands
	After     *Saved           // where another process has left it; nil: it begins
	Before    func(msg any)    // sees each message first; nil in production
}

// Conversation is the actor.
type Conversation struct {
	cfg        Config
	home       *domain.Script // before it went over to another language; nil: it has not
	state      pathway.State
	generation int    // of the prompt or the wait that counts now
	sounding   uint64 // id of the last Play or SendDigits
	current    int    // index of the segment being spoken, or -1
	asked      pathway.Say
	since      time.Time     // when it was asked for; zero: it sounds
	slowest    time.Duration // of what was asked for
	unable     bool          // the agent was found to be of no use
	unheard    int           // turns in a row that no recogniser understood
	stopSaying func()        // ends the engine's work on it; nil: there is none
	stages     stages
	timer      func()
	quiet      func()
	quietGen   int
	clips      map[speech.Request]media.Clip
	prepared   map[speech.Request]bool
	segments   []domain.Segment
	shown      []domain.Segment // as a watcher was told
	keys       keys
	finished   bool
	speaking   bool          // the far end, as our ears tell
	spoke      time.Duration // until when it did; 0: it never did
	optedOut   bool
	hidden     bool // as Hide was told last
	beside     beside
	turn       turn
	away       bool // somebody else has the caller
	handing    bool // the pathway has sent him there
	answering  answering
	thinking   thinking
	handovers  int
	live       live
	owing      owing
	ahead      ahead
	human      int    // index of the segment in which somebody else speaks, or -1
	stands     *stand // as the call was told
	due        due
	rest       rest
}

// New makes the actor.
func New(cfg Config) actor.Actor {
	c := &Conversation{
		cfg: cfg, current: -1, human: -1,
		clips: make(map[speech.Request]media.Clip), prepared: make(map[speech.Request]bool),
	}
	if cfg.After == nil || !c.recall(cfg.After) {
		c.cfg.After = nil
		c.state = pathway.New(cfg.Script, cfg.Variables).Lively(c.lively())
	}
	return c
}

// Receive is the table of contents.
func (c *Conversation) Receive(ctx actor.Context) {
	if c.cfg.Before != nil {
		c.cfg.Before(ctx.Message())
	}
	if !c.rests(ctx) {
		c.receive(ctx)
	}
}

func (c *Conversation) receive(ctx actor.Context) {
	defer c.tellStand(ctx)
	defer c.readAlong()
	switch m := ctx.Message().(type) {
	case Begin:
		c.beginOrGoOn(ctx)
	case gateLate:
		c.openLate(ctx)
	case beepLate:
		c.beepTooLate(ctx, m)
	case Heard:
		c.heard(ctx, m.Event)
	case Speak:
		c.speakBeside(ctx, m.Text)
	case Away:
		c.goAway(ctx)
	case Back:
		c.back(ctx, m.OK)
	case Human:
		c.joined(m.On)
	case HumanKey:
		c.noteHumanKey(ctx, m.Key)
	case Finish:
		c.finish(ctx)
	case unsaid:
		c.lastUnknown(ctx)
	case spoken:
		c.spoken(ctx, m)
	case prepared:
		c.keep(m.request, m.clip)
	case engineFailed:
		c.engineFailed(ctx, m)
	case waited:
		c.timeout(ctx, m)
	case silence:
		c.silent(ctx, m)
	case understood:
		c.understood(ctx, m)
	case turnDue:
		c.turnDue(ctx, m)
	case over:
		if !c.finished {
			ctx.Send(ctx.Parent(), m.over)
		}
	case *actor.Stopping:
		c.stopTimers(ctx)
	default:
		c.mind(ctx)
	}
}

func (c *Conversation) heard(ctx actor.Context, e media.Event) {
	if c.machine(ctx, e) {
		return
	}
	switch e := e.(type) {
	case media.Digit:
		c.key(ctx, e.Key)
	case media.Played:
		if e.ID == c.sounding && c.current >= 0 && c.live.sounds.Kind != 0 && !c.finished {
			c.livePlayed(ctx, e.Heard, e.Interrupted)
			return
		}
		if e.ID == c.sounding && c.current >= 0 && !c.finished {
			c.endSegment(e.Interrupted)
			c.listen(ctx)
			c.sounded(ctx, pathway.PromptDone{})
		}
	case media.DigitsSent:
		if e.ID == c.sounding && !c.finished {
			c.sounded(ctx, pathway.DigitsSent{})
		}
	case media.SpeechBegan:
		c.speaking = true
		c.listen(ctx)
		c.liveVoice(ctx, true)
		c.began(ctx)
	case media.SpeechEnded:
		c.speaking, c.spoke = false, c.cfg.Sound.Mark()
		c.listen(ctx)
		c.liveVoice(ctx, false)
		c.fellSilent(ctx)
	}
}

// timeout tells that nothing was keyed in or said, unless something is being
// said.
func (c *Conversation) timeout(ctx actor.Context, m waited) {
	switch {
	case m.generation != c.generation:
	case c.turn.on && !c.turn.aside:
		c.timer = nil
	default:
		c.beside.wait = 0
		c.stages.forget()
		c.step(ctx, pathway.Timeout{})
	}
}

func (c *Conversation) key(ctx actor.Context, key byte) {
	if c.finished || c.state.Over() {
		return
	}
	c.noteKey(caller, key, c.state.Secret())
	c.awaitKeys(ctx)
	c.pressedKey(ctx)
	if c.away {
		return
	}
	c.pressedOut(ctx)
	c.listen(ctx)
	if !c.turn.apart {
		c.dropTurn()
	}
	c.stages.pressed(c.cfg.Sound.Mark())
	c.liveKey(key)
	c.step(ctx, pathway.Digit{Key: key})
	c.goOn(ctx)
}

// step tells the pathway what happened and does what it asks for.
// goesOn: something of that is said, awaited or ends the conversation.
func (c *Conversation) step(ctx actor.Context, in pathway.Input) (goesOn bool) {
	if c.finished {
		return false
	}
	var dos []pathway.Do
	c.state, dos = pathway.Step(c.state, in)
	if round, lives := c.state.Lives(); c.live.round != 0 && (!lives || round != c.live.round) {
		c.endLive(ctx)
	}
	for _, d := range dos {
		goesOn = goesOn || leads(d)
		switch d := d.(type) {
		case pathway.Say:
			c.say(ctx, d)
		case pathway.Speaks:
			c.speaks(ctx, d.Language)
		case pathway.Hush:
			c.hush()
		case pathway.Collect:
			c.wait(ctx, d.Timeout)
		case pathway.SendDigits:
			c.send(d)
		case pathway.Missing:
			c.cfg.Log.Warn("a prompt lacks a variable", slog.String("node", d.Node), slog.String("variable", d.Name))
			ctx.Send(ctx.Parent(), Fault{
				Stage: "pathway", Code: "missing_variable",
				Message: "node " + d.Node + " needs the variable " + d.Name + ", which has no value", Recovered: true,
			})
		case pathway.Transfer:
			c.handOn(ctx, d)
		case pathway.Set:
		case pathway.Think:
			c.think(ctx, d)
		case pathway.Live:
			c.enliven(ctx, d)
		case pathway.Told:
			c.liveResult(d)
		case pathway.Answer:
			c.liveAnswer(d)
		case pathway.Forget:
			c.forget()
		case pathway.Act:
			c.act(ctx, d)
		case pathway.Done:
			ctx.Send(ctx.Parent(), Acted{Action: d.Name, Arguments: c.cfg.Redact.JSON(d.Given), Result: json.RawMessage(`{"status":"done"}`)})
		case pathway.Refused:
			c.cfg.Log.Warn("a model wanted what its node does not offer", slog.String("node", d.Node), slog.String("tool", d.Name), slog.String("reason", d.Why))
			ctx.Send(ctx.Parent(), Fault{Stage: "llm", Code: "tool_refused", Message: "the model called " + d.Name + " at node " + d.Node + ": " + d.Why, Recovered: true})
		case pathway.Meant:
			c.meant(ctx, d)
		case pathway.OptOut:
			c.optOut(ctx, byPathway, "")
		case pathway.End:
			c.end(ctx, d)
		}
	}
	c.hide(!c.state.Over() && c.state.Secret())
	return goesOn
}

// leads says whether the conversation goes on by something that is done.
func leads(d pathway.Do) bool {
	switch d.(type) {
	case pathway.Say, pathway.Collect, pathway.SendDigits, pathway.Transfer, pathway.Think, pathway.Live, pathway.Act, pathway.End:
		return true
	}
	return false
}

// supersede makes results and timers of before stale.
func (c *Conversation) supersede() int {
	if c.timer != nil {
		c.timer()
		c.timer = nil
	}
	c.generation++
	return c.generation
}

func (c *Conversation) wait(ctx actor.Context, d time.Duration) {
	c.timer = mailbox.After(ctx, d, waited{c.supersede()})
	c.beside.wait = d
	if !c.beside.on {
		c.beside.busy = false
		c.nextBeside(ctx, nil)
	}
}

func (c *Conversation) send(d pathway.SendDigits) {
	c.cutShort()
	c.supersede()
	c.beside.busy = true
	c.sounding++
	c.cfg.Sound.SendDigits(c.sounding, d.Digits)
}

func (c *Conversation) end(ctx actor.Context, d pathway.End) {
	c.forget()
	c.supersede()
	c.quietNow()
	if d.Reason != "" {
		c.cfg.Log.Error("a pathway was broken off", slog.String("pathway_id", c.cfg.Script.Pathway.ID), slog.String("reason", d.Reason))
		ctx.Send(ctx.Parent(), Fault{Stage: "pathway", Code: d.Reason, Message: "the pathway was broken off"})
	}
	m := Over{Outcome: d.Outcome, Reason: d.Reason, Unable: d.IsUnable()}
	if c.sounding == 0 {
		ctx.Send(ctx.Parent(), m) // nothing was sent that could be cut off
		return
	}
	mailbox.After(ctx, tail, over{m})
}

// listen begins the time of silence anew.
func (c *Conversation) listen(ctx actor.Context) {
	c.quietNow()
	if limit := c.cfg.Script.Limits.SilenceSeconds; limit > 0 && c.current < 0 && !c.away && !c.finished && !c.state.Over() {
		c.quiet = mailbox.After(ctx, time.Duration(limit)*time.Second, silence{c.quietGen})
	}
}

// quietNow ends the time of silence.
func (c *Conversation) quietNow() {
	c.quietGen++
	if c.quiet != nil {
		c.quiet()
		c.quiet = nil
	}
}

func (c *Conversation) silent(ctx actor.Context, m silence) {
	if m.generation != c.quietGen || c.away || c.finished || c.state.Over() {
		return
	}
	c.supersede()
	if !c.tells() {
		c.dropTurn()
	}
	c.state, _ = pathway.Step(c.state, pathway.Hangup{})
	ctx.Send(ctx.Parent(), Over{Outcome: c.state.Result().Outcome})
}
