package conversation

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// LiveMind is a Mind that can hand the caller to an engine which hears and
// speaks by itself.
type LiveMind interface {
	Mind
	// Live begins such a conversation; told hears of it, also before Live has
	// returned, and never after Close.
	Live(ctx context.Context, s *domain.Script, brief string, d pathway.Live, told func(speech.LiveEvent)) (LiveTalk, error)
	// Instead says whether a model, a voice and ears can go on where it fails.
	Instead(s *domain.Script) bool
}

// LiveTalk is a conversation of such an engine.
type LiveTalk struct {
	speech.Live
	Engine string            // its name
	Alone  bool              // it tells nothing of turns and words, and takes its own sound back
	Tools  map[string]string // ids of tools by the names that the engine has for them
}

type (
	liveOpened struct {
		round int
		talk  LiveTalk
		err   error
	}
	liveTold struct { // bounded by the mailbox
		round int
		e     speech.LiveEvent
	}
	liveLost struct { // tells of the end: always heard
		round int
		err   error
	}
	liveDeaf struct{ round, silence int }
)

func (liveOpened) Control() {}
func (liveLost) Control()   {}
func (liveDeaf) Control()   {}

const (
	liveOpening = 10 * time.Second // the tools are looked up; connecting follows
	liveWaiting = 32               // answers that wait to be heard, and events before it is known who tells them
	byWriting   = 0.9              // how sure words are that the engine has written down
)

// opening is a conversation with an engine that is under way or not open yet:
// whoever leaves it closes it, now or as soon as it is there. The actor may have
// ended by then.
type opening struct {
	mu   sync.Mutex
	left bool
	talk speech.Live // nil: it is not open yet
}

func (o *opening) opened(t LiveTalk) {
	o.mu.Lock()
	o.talk = t.Live
	left := o.left
	o.mu.Unlock()
	if left {
		t.Close()
	}
}

func (o *opening) leave() {
	o.mu.Lock()
	first := !o.left
	o.left = true
	talk := o.talk
	o.mu.Unlock()
	if first && talk != nil {
		talk.Close()
	}
}

// live is the engine that has the caller.
type live struct {
	round   int // 0: none has
	opening *opening
	talk    LiveTalk
	open    bool
	lost    bool // it is gone
	ended   bool // no engine will have the caller any more
	early   []speech.LiveEvent
	results []pathway.Told     // that are to be told once it is there
	waiting []speech.LiveEvent // answers that are not heard yet
	sounds  speech.LiveEvent   // the one that is heard; Kind 0: none
	busy    bool               // an answer is being made, or was asked for
	speaks  bool               // the caller does
	stopped bool               // what sounds was told to stop
	heard   map[string]int     // segments by what the engine calls them
	last    string             // of those the caller's last one
	said    map[string]string  // words of answers that are not heard yet
	reply   bool               // words cut what it says
	voice   int                // alone: index+1 of the segment in which the caller speaks
	silence int                // of the caller, as our ears count them
	deaf    func()             // stops the timer of the one that the engine has not noticed; nil: there is none
}

// lively says whether an engine that hears and speaks by itself can have the
// caller at converse nodes.
func (c *Conversation) lively() bool {
	_, can := c.cfg.Mind.(LiveMind)
	return can && c.cfg.Script.Realtime != nil && c.cfg.Ear != nil && !c.live.ended
}

// enliven hands the caller to the engine.
func (c *Conversation) enliven(ctx actor.Context, d pathway.Live) {
	c.forget()
	c.supersedeWait()
	c.setApart(ctx)
	may := c.turns().Interruptible
	d.Interruptible = d.Interruptible && (may == nil || *may)
	c.live = live{round: d.Round, busy: d.Speak, reply: d.Interruptible, heard: make(map[string]int), said: make(map[string]string)}
	gone := new(opening)
	c.live.opening = gone
	root, self, script := ctx.ActorSystem().Root, ctx.Self(), c.cfg.Script
	mind, ok := c.cfg.Mind.(LiveMind)
	if !ok {
		root.Send(self, liveLost{d.Round, speech.ErrResting})
		return
	}
	brief := c.state.Brief(script.System, d.Think)
	mailbox.Work(ctx, liveOpening, func(bound context.Context) any {
		m := liveOpened{round: d.Round}
		defer func() {
			if m.err == nil {
				gone.opened(m.talk)
			}
		}()
		m.talk, m.err = mind.Live(bound, &script, brief, d, func(e speech.LiveEvent) {
			if e.Kind == speech.LiveLost {
				root.Send(self, liveLost{d.Round, e.Err})
				return
			}
			root.Send(self, liveTold{d.Round, e})
		})
		return m
	})
}

// endLive takes the caller back.
func (c *Conversation) endLive(ctx actor.Context) {
	if c.live.round == 0 {
		return
	}
	c.attend()
	if c.live.open {
		c.cfg.Ear.End()
	}
	if c.turn.on && c.turn.apart && !c.turn.over {
		c.endTurn(ctx) // who wants no more calls may have said it
	}
	c.owe(ctx)
	sounded := c.live.sounds.Kind != 0
	c.live = live{ended: c.live.ended}
	if sounded {
		c.hush()
	}
}

// liveMessage handles what comes of the engine.
func (c *Conversation) liveMessage(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case liveOpened:
		c.liveOpened(ctx, m)
	case owed:
		if m.round == c.owing.round {
			c.settle(ctx)
		}
	case liveTold:
		if c.owing.round != 0 && m.round == c.owing.round {
			c.repaid(ctx, m.e)
			return
		}
		if m.round != c.live.round || c.finished {
			return
		}
		if c.live.open {
			c.liveTold(ctx, m.e)
		} else if len(c.live.early) < liveWaiting {
			c.live.early = append(c.live.early, m.e)
		}
	case liveLost:
		if c.owing.round != 0 && m.round == c.owing.round {
			c.settle(ctx)
			return
		}
		if m.round == c.live.round && !c.finished {
			c.liveLost(ctx, m.err)
		}
	case liveDeaf:
		if m.round == c.live.round && m.silence == c.live.silence && c.live.deaf != nil && !c.finished {
			c.liveLost(ctx, speech.ErrStalled)
		}
	}
}

func (c *Conversation) liveOpened(ctx actor.Context, m liveOpened) {
	if m.round != c.live.round || c.finished {
		return // whoever took the caller back has closed it
	}
	c.live.talk = m.talk
	if m.err != nil {
		c.liveLost(ctx, m.err)
		return
	}
	c.live.open = true
	c.cfg.Ear.Begin(m.talk, noticed+before)
	for _, d := range c.live.results {
		m.talk.Result(d.ID, d.Text)
	}
	early := c.live.early
	c.live.early, c.live.results = nil, nil
	for _, e := range early {
		if c.live.round == m.round {
			c.liveTold(ctx, e)
		}
	}
	if c.speaking && c.live.round == m.round && m.talk.Alone {
		c.began(ctx) // it tells nothing of what he has begun to say
	}
}

// liveTold acts on what the engine tells.
func (c *Conversation) liveTold(ctx actor.Context, e speech.LiveEvent) {
	l := &c.live
	switch e.Kind { //nolint:exhaustive // the end has a message of its own
	case speech.LiveReady:
		c.liveRests(ctx)
	case speech.LiveBegan:
		c.liveBegan(ctx, e)
	case speech.LiveEnded:
		c.attend()
		l.speaks, l.busy = false, true
		c.listen(ctx)
		now := c.cfg.Sound.Mark()
		if i, ok := l.heard[e.Item]; ok {
			c.segments[i].EndMs = now.Milliseconds()
		}
		c.stages.spoke(max(now-hangover, 0), now, time.Now())
	case speech.LiveHeard:
		c.liveHeard(ctx, e)
	case speech.LiveSounds:
		l.busy = true
		if len(l.waiting) < liveWaiting {
			l.waiting = append(l.waiting, e)
		}
		c.liveNext()
	case speech.LiveSaid:
		if i, ok := l.heard[e.Item]; ok {
			c.segments[i].Text = e.Text
		} else if len(l.said) < liveWaiting {
			l.said[e.Item] = e.Text
		}
	case speech.LiveIdle:
		l.busy = false
		c.liveRests(ctx)
	case speech.LiveCleared:
		l.busy, l.waiting = false, nil
		c.liveStops()
		c.liveRests(ctx)
	case speech.LiveLeft:
		l.busy = false
		c.step(ctx, pathway.Left{Round: l.round})
		c.liveRests(ctx)
	case speech.LiveDone:
		l.busy = false
		c.liveWants(ctx, e.Calls)
		c.liveRests(ctx) // where it still has the caller
	}
}

// liveBegan: the caller speaks. What is said to him ends, where it may.
func (c *Conversation) liveBegan(ctx actor.Context, e speech.LiveEvent) {
	l := &c.live
	l.speaks = true
	c.supersedeWait()
	c.quietNow()
	if len(l.heard) < 4*turnsMost {
		i := c.add(caller, pathway.NotUnderstood)
		c.segments[i].StartMs = max(c.segments[i].StartMs-noticed.Milliseconds(), 0)
		l.heard[e.Item], l.last = i, e.Item
	}
	if !c.speaking && !l.talk.Alone && c.spoke > 0 && c.cfg.Sound.Mark()-c.spoke < justSpoke {
		c.awaitEnd(ctx) // our ears have heard him end before it heard him begin
	}
	if !l.reply {
		return
	}
	for _, unheard := range l.waiting {
		l.talk.Cut(unheard.Item, 0)
	}
	l.busy, l.waiting = false, nil
	c.liveStops()
}

// liveStops ends what sounds of the engine.
func (c *Conversation) liveStops() {
	if l := &c.live; l.sounds.Kind != 0 && !l.stopped {
		l.stopped = true
		c.cfg.Sound.StopPlaying() // it tells how much was heard
	}
}

// liveHeard are the caller's words.
func (c *Conversation) liveHeard(ctx actor.Context, e speech.LiveEvent) {
	if e.Text == "" {
		return
	}
	if i, ok := c.live.heard[e.Item]; ok {
		c.segments[i].Text, c.segments[i].Confidence = e.Text, byWriting
	} else if len(c.live.heard) < 4*turnsMost {
		c.live.heard[e.Item] = c.add(caller, e.Text)
	}
	c.said(ctx, e.Text)
	c.step(ctx, pathway.Overheard{Round: c.live.round, By: pathway.ByCaller, Text: e.Text})
}

// liveWants has done what the engine wants.
func (c *Conversation) liveWants(ctx actor.Context, calls []speech.LiveCall) {
	in := pathway.Wanted{Round: c.live.round}
	for _, w := range calls {
		in.Calls = append(in.Calls, pathway.Called{ID: w.ID, Name: w.Name, Arguments: w.Arguments, Tool: c.live.talk.Tools[w.Name]})
	}
	c.step(ctx, in)
}

// liveResult tells the engine what came of a tool, once it is there; one that
// gets the caller later learns of it by the history.
func (c *Conversation) liveResult(d pathway.Told) {
	switch l := &c.live; {
	case l.open:
		l.talk.Result(d.ID, d.Text)
	case l.round != 0 && len(l.results) < liveWaiting:
		l.results = append(l.results, d)
	}
}

// liveAnswer asks for an answer of the engine, where it has the caller.
func (c *Conversation) liveAnswer(d pathway.Answer) {
	if c.live.open {
		c.live.busy = true
		c.live.talk.Answer(d.Text)
	}
}

// liveNext lets the next answer be heard.
func (c *Conversation) liveNext() {
	l := &c.live
	if len(l.waiting) == 0 || l.sounds.Kind != 0 || c.current >= 0 || c.beside.on {
		return
	}
	l.sounds, l.waiting, l.stopped = l.waiting[0], l.waiting[1:], false
	c.supersedeWait()
	c.supersede()
	c.quietNow()
	c.unsay()
	c.beside.busy = true
	text := l.said[l.sounds.Item]
	if l.talk.Alone {
		text = onTheLine
	}
	c.asked = pathway.Say{Node: "", Text: text, Shown: text, Interruptible: l.reply}
	delete(l.said, l.sounds.Item)
	c.beginSegment()
	l.heard[l.sounds.Item] = c.current
	c.stages.sounds(time.Now(), time.Time{})
	c.sounding++
	c.turn.paused = false
	c.cfg.Sound.PlayFeed(c.sounding, l.sounds.Feed)
}

// livePlayed: an answer was heard, or as much of it as the caller wanted.
func (c *Conversation) livePlayed(ctx actor.Context, heard time.Duration, interrupted bool) {
	l := &c.live
	item, feed := l.sounds.Item, l.sounds.Feed
	text := c.segments[c.current].Text
	c.endSegment(interrupted)
	l.sounds, c.beside.busy = speech.LiveEvent{}, false
	if interrupted {
		l.talk.Cut(item, heard)
		text = pathway.CutShort(asMuch(text, heard, feed.Len()))
	}
	if !l.talk.Alone {
		c.step(ctx, pathway.Overheard{Round: l.round, By: pathway.ByAgent, Text: text})
	}
	c.listen(ctx)
	c.liveGoesOn(ctx)
}

// liveGoesOn lets be heard what waits: texts besides first.
func (c *Conversation) liveGoesOn(ctx actor.Context) {
	if c.live.round == 0 || c.nextBeside(ctx, nil) {
		return
	}
	c.liveNext()
	c.liveRests(ctx)
}

// asMuch are about as many of the words as were heard of so many samples.
func asMuch(text string, heard time.Duration, samples int) string {
	if samples == 0 {
		return ""
	}
	n := int(int64(len(text)) * heard.Milliseconds() * 8 / int64(samples))
	if n >= len(text) {
		return text
	}
	return strings.TrimSpace(text[:strings.LastIndexByte(text[:n], ' ')+1])
}

// liveRests tells the pathway where nobody speaks.
func (c *Conversation) liveRests(ctx actor.Context) {
	l := &c.live
	if l.round != 0 && !l.busy && !l.speaks && l.sounds.Kind == 0 && len(l.waiting) == 0 && c.current < 0 && !c.away {
		c.step(ctx, pathway.Rested{Round: l.round})
	}
}

// liveLost goes on without the engine.
func (c *Conversation) liveLost(ctx actor.Context, err error) {
	round, name := c.live.round, c.live.talk.Engine
	if r := c.cfg.Script.Realtime; name == "" && r != nil {
		name = r.Engine
	}
	mind, ok := c.cfg.Mind.(LiveMind)
	instead := ok && mind.Instead(&c.cfg.Script) && c.cfg.Ears != nil
	c.cfg.Log.Error("an engine that speaks by itself is gone", slog.String("engine", name), slog.Any("error", err), slog.Bool("recovered", instead))
	ctx.Send(ctx.Parent(), Fault{Stage: "realtime", Code: speech.Why(err), Message: "the engine " + name + " failed", Recovered: instead})
	text := ""
	if c.current >= 0 && c.live.sounds.Kind != 0 && !c.live.talk.Alone {
		now := c.segments[c.current]
		text = pathway.CutShort(asMuch(now.Text, c.cfg.Sound.Mark()-time.Duration(now.StartMs)*time.Millisecond, c.live.sounds.Feed.Len()))
	}
	c.live.ended, c.live.lost = true, true
	if text != "" {
		c.step(ctx, pathway.Overheard{Round: round, By: pathway.ByAgent, Text: text})
	}
	c.endLive(ctx)
	c.step(ctx, pathway.Broke{Round: round, Instead: instead})
}
