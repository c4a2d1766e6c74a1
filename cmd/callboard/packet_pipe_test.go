package main_test

import (
	"container/heap"
	"math/rand/v2"
	"sync"
	"time"
)

// networkFault describes a faulty network in one direction, with the semantics of tc netem. A packet may be lost or
// duplicated. It arrives after delay plus or minus jitter. A reordered packet arrives at once.
type networkFault struct {
	name                     string
	loss, duplicate, reorder float64 // fractions of packets
	delay, jitter            time.Duration
}

// networkFaults are the emulated networks that the packet loss tests compare.
var networkFaults = []networkFault{
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
type packetPipe struct {
	mu      sync.Mutex
	fault   networkFault
	random  *rand.Rand
	queue   packetQueue
	count   uint64
	dropped int
	wake    chan struct{}
	stop    chan struct{}
	work    sync.WaitGroup
}

type queuedPacket struct {
	at   time.Time
	n    uint64
	send func()
}

type packetQueue []queuedPacket

func (d packetQueue) Len() int      { return len(d) }
func (d packetQueue) Swap(i, j int) { d[i], d[j] = d[j], d[i] }
func (d *packetQueue) Push(x any)   { *d = append(*d, x.(queuedPacket)) }
func (d packetQueue) Less(i, j int) bool {
	return d[i].at.Before(d[j].at) || d[i].at.Equal(d[j].at) && d[i].n < d[j].n
}

func (d *packetQueue) Pop() any {
	last := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return last
}

func newPacketPipe(f networkFault, seed uint64) *packetPipe {
	p := &packetPipe{fault: f, random: rand.New(rand.NewPCG(seed, seed)), wake: make(chan struct{}, 1), stop: make(chan struct{})}
	p.work.Go(p.forwardPackets)
	return p
}

func (p *packetPipe) close() {
	close(p.stop)
	p.work.Wait()
}

// sendPacket accepts a packet. send is called once for each copy that arrives.
func (p *packetPipe) sendPacket(send func()) {
	p.mu.Lock()
	f := p.fault
	// Each packet uses the same number of random values, so that the sequence does not depend on the fault.
	lost, twice, first, sway := p.random.Float64(), p.random.Float64(), p.random.Float64(), 2*p.random.Float64()-1
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
		heap.Push(&p.queue, queuedPacket{at, p.count, send})
	}
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *packetPipe) forwardPackets() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		for send := p.takeDuePacket(timer); send != nil; send = p.takeDuePacket(timer) {
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

// takeDuePacket returns the send function of the next packet if it is due. Otherwise it returns nil and sets the timer
// to the time of the next packet.
func (p *packetPipe) takeDuePacket(timer *time.Timer) func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		return nil
	}
	if wait := time.Until(p.queue[0].at); wait > 0 {
		timer.Reset(wait)
		return nil
	}
	return heap.Pop(&p.queue).(queuedPacket).send
}
