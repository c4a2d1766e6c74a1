package main_test

import (
	"container/heap"
	"math/rand/v2"
	"sync"
	"time"
)

// networkFault is the fault of a network in each direction, with the semantics of tc netem. A packet is lost or
// duplicated. It arrives after delay plus or minus jitter, unless it is reordered and arrives at once.
type fault struct {
	name                     string
	loss, duplicate, reorder float64 // fractions of packets
	delay, jitter            time.Duration
}

// networkFaults are the networks under test.
var faults = []fault{
	{name: "clean"},
	{name: "loss of 1 %", loss: 0.01},
	{name: "loss of 5 %", loss: 0.05},
	{name: "jitter of 50 ms", delay: 60 * time.Millisecond, jitter: 50 * time.Millisecond},
	{name: "reordering", delay: 30 * time.Millisecond, reorder: 0.25},
	{name: "duplication", duplicate: 0.1},
	{name: "all at once", loss: 0.02, duplicate: 0.05, delay: 40 * time.Millisecond, jitter: 30 * time.Millisecond},
}

// packetPipe forwards packets in one direction with a fault. Its random generator has a fixed seed, so that every
// run affects the same packets.
type pipe struct {
	mu      sync.Mutex
	fault   fault
	dice    *rand.Rand
	queue   dues
	count   uint64
	dropped int
	wake    chan struct{}
	stop    chan struct{}
	work    sync.WaitGroup
}

type due struct {
	at   time.Time
	n    uint64
	send func()
}

type dues []due

func (d dues) Len() int      { return len(d) }
func (d dues) Swap(i, j int) { d[i], d[j] = d[j], d[i] }
func (d *dues) Push(x any)   { *d = append(*d, x.(due)) }
func (d dues) Less(i, j int) bool {
	return d[i].at.Before(d[j].at) || d[i].at.Equal(d[j].at) && d[i].n < d[j].n
}

func (d *dues) Pop() any {
	last := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return last
}

func newPipe(f fault, seed uint64) *pipe {
	p := &pipe{fault: f, dice: rand.New(rand.NewPCG(seed, seed)), wake: make(chan struct{}, 1), stop: make(chan struct{})}
	p.work.Go(p.run)
	return p
}

func (p *pipe) close() {
	close(p.stop)
	p.work.Wait()
}

// sendPacket accepts a packet. send is called once for each copy that arrives.
func (p *pipe) carry(send func()) {
	p.mu.Lock()
	f := p.fault
	// Each packet uses the same number of random values, so that the sequence does not depend on the fault.
	lost, twice, first, sway := p.dice.Float64(), p.dice.Float64(), p.dice.Float64(), 2*p.dice.Float64()-1
	if lost < f.loss {
		p.dropped++
		p.mu.Unlock()
		return
	}
	at := time.Now()
	if first >= f.reorder {
		at = at.Add(f.delay + time.Duration(sway*float64(f.jitter)))
	}
	copies := 1
	if twice < f.duplicate {
		copies = 2
	}
	for range copies {
		p.count++
		heap.Push(&p.queue, due{at, p.count, send})
	}
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *pipe) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		for send := p.next(timer); send != nil; send = p.next(timer) {
			send()
		}
		select {
		case <-p.stop:
			return
		case <-p.wake:
		case <-timer.C:
		}
	}
}

// takeDuePacket returns the next packet that is due. Otherwise it returns nil and sets the timer to the next
// packet.
func (p *pipe) next(timer *time.Timer) func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		return nil
	}
	if wait := time.Until(p.queue[0].at); wait > 0 {
		timer.Reset(wait)
		return nil
	}
	return heap.Pop(&p.queue).(due).send
}
