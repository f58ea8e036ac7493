"""Loops, branches, and the values that meet after them."""

import amdjit
from amdjit import f32, i32


@amdjit.kernel
def counted_loop(a: f32[:], out: f32[:], n: i32):
    """A range is compared before its first round, and its counter never wraps."""
    total = f32(0)
    for k in range(n):
        total += a[k]
    out[0] = total
    # CHECK: icmp slt i32 0, %n
    # CHECK-NEXT: br i1 %?, label %round, label %done
    # CHECK: %k = phi i32 [0, %body], [%following, %next]
    # CHECK: next:
    # CHECK-NEXT: %following = add nsw i32 %k, 1
    # CHECK-NEXT: %goes_on = icmp slt i32 %following, %n
    # CHECK-NEXT: br i1 %goes_on, label %round, label %done


@amdjit.kernel
def unrolled_loop(a: f32[:], out: f32[:]):
    """`static_range` leaves no loop: each round is code of its own, with a constant counter."""
    total = a[0]
    for k in amdjit.static_range(1, 3):
        total += a[k]
    out[0] = total
    # CHECK: body:
    # CHECK-NOT: br
    # CHECK: getelementptr inbounds nuw i8, ptr addrspace(1) %?, i64 4
    # CHECK: %one = fadd float
    # CHECK: getelementptr inbounds nuw i8, ptr addrspace(1) %?, i64 8
    # CHECK: %two = fadd float %one
    # CHECK-NEXT: store float %two
    # CHECK-NEXT: ret void


@amdjit.kernel
def while_loop(out: i32[:], n: i32):
    """The condition is evaluated before each round, the first one included."""
    while n > 1:
        n = n - 3
    out[0] = n
    # CHECK: br label %while
    # CHECK-NEXT: while:
    # CHECK: %goes_on = icmp sgt i32 %?, 1
    # CHECK-NEXT: br i1 %goes_on, label %round, label %done
    # CHECK: next:
    # CHECK-NEXT: br label %while


@amdjit.kernel
def loop_with_else(a: f32[:], out: i32[:]):
    """`break` jumps over the loop's `else`, which runs where the range is used up."""
    for k in range(a.shape[0]):
        if a[k] < 0.0:
            break
    else:
        k = -1
    out[0] = k
    # CHECK: br i1 %?, label %round, label %done
    # CHECK: br i1 %?, label %then, label %endif
    # CHECK: done:
    # CHECK-NEXT: store i32 -1
    # CHECK-NEXT: br label %after
    # CHECK: then:
    # CHECK-NEXT: br label %after


@amdjit.kernel
def continued_loop(a: f32[:], out: f32[:]):
    """`continue` goes to the block that counts."""
    for k in range(a.shape[0]):
        if a[k] == 0.0:
            continue
        out[k] = a[k]
    # CHECK: br i1 %?, label %then, label %endif
    # CHECK: next:
    # CHECK-NEXT: %? = add nsw i32
    # CHECK: then:
    # CHECK-NEXT: br label %next


@amdjit.kernel
def merged_variable(a: f32[:], out: f32[:]):
    """A variable that both branches assign lies in memory until the optimiser makes it a phi."""
    if a[0] > 0.0:  # noqa: SIM108
        x = a[1]
    else:
        x = a[2]
    out[0] = x
    # CHECK: %memory = alloca float, addrspace(5)
    # CHECK: br i1 %?, label %then, label %else
    # CHECK: store float %?, ptr addrspace(5) %memory
    # CHECK: %x = load float, ptr addrspace(5) %memory
    # CHECK-NEXT: store float %x, ptr addrspace(1) %out
    # CHECK: store float %?, ptr addrspace(5) %memory


@amdjit.kernel
def variable_of_one_branch(a: f32[:], out: f32[:]):
    """A variable that only one assignment can reach needs no memory."""
    if a[0] > 0.0:
        x = a[1]
        out[0] = x
        x = a[2]
        out[1] = x
    # CHECK: body:
    # CHECK-NOT: alloca
    # CHECK: then:
    # CHECK: %x = load float, ptr addrspace(1)
    # CHECK-NEXT: store float %x, ptr addrspace(1) %out
    # CHECK: %y = load float, ptr addrspace(1)
    # CHECK: store float %y, ptr addrspace(1)
    # CHECK-NOT: addrspace(5)


@amdjit.kernel(opt_level=0, warnings=False)
def variable_without_optimisation(out: i32[:], y: i32):
    """At level 0 every assignment is a store with a line of its own."""
    x = y
    out[0] = x
    # CHECK: %memory = alloca i32, addrspace(5)
    # CHECK: store i32 %y, ptr addrspace(5) %memory


@amdjit.kernel
def conditional_expression(a: f32[:], out: f32[:]):
    """Only one side of a conditional expression is evaluated, and a phi chooses."""
    out[0] = a[1] if a[0] > 0.0 else a[2]
    # CHECK: br i1 %?, label %true, label %false
    # CHECK: true:
    # CHECK: %yes = load float
    # CHECK: false:
    # CHECK: %no = load float
    # CHECK: %x = phi float [%yes, %true], [%no, %false]
    # CHECK-NEXT: store float %x


@amdjit.kernel
def lazy_and(a: f32[:], out: i32[:]):
    """The right side of `and` is loaded only where the left side is true."""
    if a[0] > 0.0 and a[1] > 0.0:
        out[0] = 1
    # CHECK: br i1 %?, label %right, label %decided
    # CHECK-NEXT: right:
    # CHECK: %second = fcmp ogt float
    # CHECK: %both = phi i1 [false, %body], [%second, %right]
    # CHECK-NEXT: br i1 %both, label %then, label %endif


@amdjit.kernel
def stepped_loop(out: i32[:], n: i32):
    """A step of 3 compares with the bound less the step, which is kept inside the type."""
    for k in range(0, n, 3):
        out[k] = k
    # CHECK: %least = add i32 3, -2147483648
    # CHECK: %bound = call i32 @llvm.smax.i32(i32 %n, i32 %least)
    # CHECK-NEXT: %limit = sub nsw i32 %bound, 3
    # CHECK: %goes_on = icmp slt i32 %?, %limit
    # CHECK-NEXT: br i1 %goes_on, label %round, label %done


@amdjit.kernel
def step_of_run_time(out: i32[:], n: i32, step: i32):
    """A step of unknown sign chooses the comparison, and a step of 0 raises ValueError."""
    for k in range(0, n, step):
        out[k] = k
    # CHECK: %is_zero = icmp eq i32 %step, 0
    # CHECK-NEXT: br i1 %is_zero, label %then, label %endif
    # CHECK: %is_up = icmp sgt i32 %step, 0
    # CHECK: %rising = icmp slt i32 0, %n
    # CHECK: %falling = icmp sgt i32 0, %n
    # CHECK: select i1 %is_up, i1 %rising, i1 %falling
