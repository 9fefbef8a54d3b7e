! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors
!
! The modules hocket and hocket_f08 (with -DF08): many requests in flight, started again, in place, and what is refused.
! fortran_check ENGINE prints "N checks, M wrong" at rank 0.
module fortran_check_numbers
    integer :: checks = 0, wrong = 0
contains
    subroutine expect(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        checks = checks + 1
        if (good) return
        wrong = wrong + 1
        print '(2a)', 'wrong: ', what
    end subroutine
end module

program fortran_check
#ifdef F08
    use mpi_f08
    use hocket_f08
#else
    use mpi
    use hocket
#endif
    use fortran_check_numbers
    use, intrinsic :: iso_fortran_env, only: real64
    implicit none
    integer, parameter :: n = 1000, many = 8
    type(hocket_communicator) :: world, nothing
    type(hocket_operation) :: sum_all, from_last, exchange, to_first, native, meet, refused
    type(hocket_engine) :: engine
    type(hocket_request) :: requests(many), one, other, none(2)
    type(hocket_arm) :: arms(2)
    type(hocket_selection) :: selection
    character(:), allocatable :: algorithm, collective
    real(real64), asynchronous, allocatable :: a(:, :), b(:, :)
    real(real64), asynchronous :: scalar
    integer, asynchronous :: mine(4, 64), theirs(4, 64), numbers(n)
    integer :: provided, rank, ranks, status, i, round
    real(real64) :: seconds
    logical :: done
    character(20) :: kind
    call get_command_argument(1, kind)
    call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, status)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, status)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, status)
    call hocket_communicator_create(MPI_COMM_WORLD, world)
    call hocket_operation_create(world, 'allreduce', 'recursive_doubling', sum_all)
    call hocket_operation_create(world, 'bcast', 'pipelined_chain ', from_last, root=ranks - 1, segments=3, &
                                 order=[(modulo(i + 1, ranks), i=0, ranks - 1)])
    call hocket_operation_create(world, 'alltoall', 'linear', exchange)
    call hocket_operation_create(world, 'reduce', 'binomial', to_first, root=0)
    call hocket_operation_create(world, 'allreduce', 'native', native)
    call hocket_operation_create(world, 'barrier', 'dissemination', meet)
    call hocket_engine_create(kind, engine, core=HOCKET_CORE_ANY, status=status)
    call expect(status == HOCKET_OK, 'engine')
    allocate (a(n, many), b(n, many))

    ! Many at once, with others in between.
    do i = 1, many
        a(:, i) = (rank + 1)*i
        call hocket_operation_start(merge(native, sum_all, i == many), engine, requests(i), send_buffer=a(:, i), &
                                    recv_buffer=b(:, i), recv_count=n, recv_type=MPI_REAL8, op=MPI_SUM)
    end do
    numbers = rank
    call hocket_operation_start(from_last, engine, one, recv_buffer=numbers, recv_count=n, recv_type=MPI_INTEGER)
    mine = spread([(rank*100 + i, i=0, 63)], 1, 4)
    call hocket_operation_start(exchange, engine, other, mine, 4, MPI_INTEGER, theirs, 4, MPI_INTEGER)
    call hocket_request_wait_all(requests)
    call hocket_request_wait_all([one, other, none])
    do i = 1, many
        call expect(all(b(:, i) == i*ranks*(ranks + 1)/2), 'allreduce')
    end do
    call expect(all(numbers == ranks - 1), 'bcast')
    call expect(all(theirs(:, :ranks) == spread([(100*i + rank, i=0, ranks - 1)], 1, 4)), 'alltoall')
    do i = 1, many
        call hocket_request_free(requests(i))
    end do
    call hocket_request_free(one)
    call hocket_request_free(other)

    ! In place, created once and started again and again.
    do i = 1, many
        call hocket_request_create(sum_all, engine, requests(i), MPI_IN_PLACE, recv_buffer=a(:, i), recv_count=i, &
                                   recv_type=MPI_DOUBLE_PRECISION, op=MPI_MAX)
    end do
    do round = 1, 5
        do i = 1, many
            a(:, i) = rank*round + i
        end do
        call hocket_request_start_all(requests(many:1:-1))
        call hocket_progress(engine)
        do i = 1, many
            done = .false.
            do while (.not. done)
                call hocket_request_test(requests(i), done)
            end do
            call expect(all(a(:i, i) == (ranks - 1)*round + i) .and. all(a(i + 1:, i) == rank*round + i), 'in place')
        end do
    end do
    do round = 1, 3
        a(:, 1) = rank
        call hocket_request_start(requests(1), status)
        call expect(status == HOCKET_OK, 'start')
        call hocket_request_wait(requests(1))
        call expect(a(1, 1) == ranks - 1, 'started again')
    end do
    do i = 1, many
        call hocket_request_free(requests(i))
    end do

    ! Blocking.
    scalar = rank + 1
    if (rank == 0) then
        call hocket_operation_execute(to_first, MPI_IN_PLACE, recv_buffer=scalar, recv_count=1, &
                                      recv_type=MPI_REAL8, op=MPI_SUM)
        call expect(scalar == ranks*(ranks + 1)/2, 'reduce')
    else
        call hocket_operation_execute(to_first, scalar, recv_count=1, recv_type=MPI_REAL8, op=MPI_SUM)
        call expect(scalar == rank + 1, 'reduce')
    end if
    call hocket_operation_execute(meet)

    ! The faster one of two ways, found while it runs.
    arms(1) = hocket_arm('native', native, engine, 0.)
    arms(2)%name = 'recursive doubling'
    arms(2)%operation = sum_all
    call hocket_selection_create(world, arms, selection, 2)
    do i = 1, 40
        a(:, 1:2) = rank*i
        if (i == 3) then ! counts, and is done on no rank
            call hocket_selection_start(selection, one, MPI_IN_PLACE, recv_buffer=a(1:n:2, 1), recv_count=1, &
                                        recv_type=MPI_REAL8, op=MPI_SUM, status=status)
            call expect(status == HOCKET_ERROR_INVALID, 'section of a selection')
        end if
        call hocket_selection_start(selection, requests(1), MPI_IN_PLACE, recv_buffer=a(:, 1), recv_count=i, &
                                    recv_type=MPI_REAL8, op=MPI_SUM)
        call hocket_selection_start(selection, requests(2), a(:, 2), recv_buffer=b(:, 2), recv_count=n, &
                                    recv_type=MPI_REAL8, op=MPI_MAX)
        call hocket_request_wait_all(requests(1:2))
        call expect(all(a(:i, 1) == i*ranks*(ranks - 1)/2) .and. all(b(:, 2) == (ranks - 1)*i), 'selection')
        call hocket_request_free(requests(1))
        call hocket_request_free(requests(2))
    end do
    call expect(index(hocket_selection_get_report(selection), '"recursive doubling"') > 0, 'report')
    call hocket_selection_free(selection)
    call expect(len(hocket_selection_get_report(selection)) == 0, 'no report')
    call hocket_selection_create(world, arms(1:0), selection, status=status)
    call expect(status == HOCKET_ERROR_INVALID .and. index(hocket_last_error(), 'needs an arm') > 0, 'no arms')
    do i = 0, 1000
        call hocket_algorithm_get(i, algorithm, collective)
        if (algorithm == 'recursive_doubling' .and. collective == 'allreduce' .or. algorithm == '') exit
    end do
    call expect(algorithm /= '', 'algorithms')
    call expect(len(hocket_status_string(HOCKET_ERROR_MEMORY)) > 0, 'status')

    ! What is refused.
    call hocket_operation_execute(sum_all, MPI_IN_PLACE, recv_buffer=a(1:n:2, 1), recv_count=n/2, recv_type=MPI_REAL8, &
                                  op=MPI_SUM, status=status)
    call expect(status == HOCKET_ERROR_INVALID .and. index(hocket_last_error(), 'contiguous') > 0, 'section')
    call hocket_operation_create(world, 'bcast', 'fastest', refused, status=status)
    call expect(status == HOCKET_ERROR_INVALID .and. index(hocket_last_error(), 'fastest') > 0, 'algorithm')
    call hocket_operation_create(world, 'bcast', 'chain', refused, order=[0], status=status)
    call expect((status == HOCKET_OK) .eqv. ranks == 1, 'order')
    call hocket_operation_create(world, 'allreduce', 'uneven_ring', refused, starts=[0, ranks], status=status)
    call expect(status == HOCKET_ERROR_INVALID .and. index(hocket_last_error(), 'starts') > 0, 'starts')
    call hocket_operation_create(world, 'allreduce', 'ring', refused, starts=[0], status=status)
    call expect(status == HOCKET_ERROR_INVALID .and. index(hocket_last_error(), 'no starts') > 0, 'no starts')
    call hocket_operation_create_from_json(world, '{"format": "none"}', refused, status)
    call expect(status == HOCKET_ERROR_INVALID, 'json')
    call hocket_operation_create(nothing, 'bcast', 'chain', refused, status=status)
    call expect(status == HOCKET_ERROR_INVALID, 'no communicator')

    call hocket_engine_get_cpu(engine, seconds)
    call expect(seconds >= 0, 'cpu')
    call hocket_finalize(status)
    call expect(status == HOCKET_OK, 'finalize')
    call hocket_engine_free(engine)
    call hocket_operation_free(sum_all)
    call hocket_operation_free(from_last)
    call hocket_operation_free(exchange)
    call hocket_operation_free(to_first)
    call hocket_operation_free(native)
    call hocket_operation_free(meet)
    call hocket_communicator_free(world)
    call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, status)
    if (rank == 0) print '(i0,a,i0,a)', checks, ' checks, ', wrong, ' wrong'
    call MPI_Finalize(status)
end program
