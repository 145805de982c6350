package redisproxy

import (
	"bufio"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/alicebob/miniredis/v2/proto"
)

// route is one connection of a client, and the one to Redis that belongs to it.
type route struct {
	proxy          *Proxy
	client, server net.Conn

	mu       sync.Mutex
	awaiting []*Trap // of the commands that Redis has not answered, in order; nil of one that is not caught
}

var errLost = errors.New("this connection is lost with its command")

// run ends when both directions have ended.
func (r *route) run() {
	var replies sync.WaitGroup
	replies.Go(func() {
		r.passReplies()
		r.close() // also for the client's side
	})
	if err := r.passCommands(); errors.Is(err, errLost) {
		r.close()
	} else if tcp, is := r.server.(*net.TCPConn); is {
		_ = tcp.CloseWrite() // Redis first gets what was sent, and answers
	}
	replies.Wait()
}

func (r *route) close() {
	_ = r.client.Close() // either may be closed already
	_ = r.server.Close()
}

func (r *route) passCommands() error {
	commands := bufio.NewReader(r.client)
	for {
		raw, err := proto.Read(commands)
		if err != nil {
			return err
		}
		args, err := proto.ReadStrings(raw)
		if err != nil {
			return err
		}
		trap := r.proxy.trapFor(args)
		if err := trap.await(); err != nil {
			return err
		}
		r.proxy.flows()
		r.mu.Lock()
		r.awaiting = append(r.awaiting, trap)
		r.mu.Unlock()
		if _, err := io.WriteString(r.server, raw); err != nil {
			return err
		}
	}
}

// await waits until a command may go on to Redis; nil is the trap of one that was not caught. It fails with errLost if it never may.
func (t *Trap) await() error {
	switch {
	case t == nil || t.fate == LoseReply || t.fate == HoldReply:
		return nil
	case t.fate == LoseRequest:
		close(t.caught)
		return errLost
	}
	return t.hold()
}

// hold waits until it is decided whether what the trap has caught may pass.
func (t *Trap) hold() error {
	close(t.caught)
	<-t.decided
	if !t.passes {
		return errLost
	}
	return nil
}

func (r *route) passReplies() {
	replies := bufio.NewReader(r.server)
	for {
		raw, err := proto.Read(replies)
		if err != nil {
			return
		}
		trap := r.answered()
		if trap != nil {
			close(trap.answered)
		}
		if trap.reply() != nil {
			r.close()
			return
		}
		r.proxy.flows()
		if _, err := io.WriteString(r.client, raw); err != nil {
			continue // its client has left; Redis is heard to the end
		}
	}
}

// reply waits until the answer to a command may go on to the client; nil is the trap of one that was not caught. It fails with errLost
// if it never may.
func (t *Trap) reply() error {
	switch {
	case t == nil:
		return nil
	case t.fate == LoseReply:
		close(t.caught) // first: who then hears of its client's failure knows why
		return errLost
	case t.fate == HoldReply:
		return t.hold()
	default:
		return nil
	}
}

// answered gives the trap of the command that a reply is to. A message to a subscriber is to none.
func (r *route) answered() *Trap {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.awaiting) == 0 {
		return nil
	}
	trap := r.awaiting[0]
	r.awaiting = r.awaiting[1:]
	return trap
}
